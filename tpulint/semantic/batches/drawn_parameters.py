"""Parameters of generators whose elements they hand on one by one: ``while True: yield next(batches)``.

And of classes whose objects do: ``def __iter__(self): for x, y in self.loader: yield x.cuda(), y.cuda()``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.batches.left_out_batches import leaves_out_smaller
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.project.other_files import method
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, is_of_self

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.project.other_files import Definition

_DEPTH = 6
"""Variables between what a generator yields and its parameter."""


def drawn_by(index: SemanticIndex, call: ast.Call) -> Iterator[ast.expr]:
    """What a call gives to a generator of another file that hands on its elements, or to a class with one."""
    for found in index.imported.all_called(call):
        going = method(found, "__iter__") if found.is_class else found
        made = method(found, "__init__") if found.is_class else found
        if going is None or made is None or not isinstance(going.node, FUNCTIONS):
            continue
        function = made.node
        if not isinstance(function, FUNCTIONS) or not going.file.kinds.functions.yields(going.node):
            continue
        drawn = _parameters(going)
        is_method = made.file.tree.class_of(function) is not None
        yield from (item for name, item in arguments_given(call, function, is_method) if name in drawn)


def _parameters(generator: Definition) -> set[str]:
    """The parameters that stand behind all that a generator yields; none where it yields anything else."""
    found: set[str] = set()
    for node in generator.file.tree.inside(generator.node, functions=False):
        if not isinstance(node, ast.Yield | ast.YieldFrom):
            continue
        changed = changed_elements(generator.file, node)
        value, is_element = (node.value, isinstance(node, ast.Yield)) if changed is None else (changed, False)
        name = _parameter_behind(generator, value, is_element)
        if name is None:
            return set()
        found.add(name)
    return found


def gone_through_by(file: SemanticIndex, generator: FunctionNode) -> Iterator[ast.expr]:
    """What a generator goes through, of which it yields the elements or what it makes of each."""
    for node in file.tree.inside(generator, functions=False):
        loop = file.tree.loop_of(node) if isinstance(node, ast.Yield) else None
        if isinstance(node, ast.YieldFrom):
            yield node.value
        elif isinstance(node, ast.Yield) and isinstance(node.value, ast.Name):
            is_element = isinstance(loop, ast.For) and node.value.id == getattr(loop.target, "id", None)
            if isinstance(loop, ast.For) and is_element and _is_each(file, loop, node):
                yield loop.iter
        elif isinstance(node, ast.Yield) and (changed := changed_elements(file, node)) is not None:
            yield changed


def changed_elements(file: SemanticIndex, node: ast.Yield | ast.YieldFrom) -> ast.expr | None:
    """What a loop goes through that makes something of each element: ``for x, y in loader: yield x.cuda(), y``."""
    loop = file.tree.loop_of(node)
    if isinstance(node, ast.YieldFrom) or not isinstance(loop, ast.For) or isinstance(node.value, ast.Name | None):
        return None
    names = {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
    parts = [*ast.walk(node.value)]
    is_used = any(isinstance(part, ast.Name) and part.id in names for part in parts)
    is_cut = any(isinstance(part, ast.Slice) for part in parts)  # to a length that nobody knows
    return loop.iter if is_used and not is_cut and _is_each(file, loop, node) else None


def _is_each(file: SemanticIndex, loop: ast.For, node: ast.Yield) -> bool:
    """Whether a loop yields at each of its turns, those of a smaller batch too."""
    return file.statement_of(node) in loop.body and not leaves_out_smaller(file, loop)


def _parameter_behind(generator: Definition, value: ast.expr | None, is_element: bool, depth: int = 0) -> str | None:
    """The parameter that a value is, or an element of: by a loop over it, by ``iter`` and ``next``."""
    file = generator.file
    if isinstance(value, ast.Call) and len(value.args) == 1:
        name = file.names.qualified(value.func)
        if name == ("builtins.next" if is_element else "builtins.iter"):
            return _parameter_behind(generator, value.args[0], False, depth + 1)
    if value is not None and is_of_self(value) and depth <= _DEPTH and not is_element:
        owner = file.tree.class_of(value)
        kept = [] if owner is None else file.names.attribute_bindings(owner, value.attr)
        is_one = len(kept) == 1 and not kept[0].path and _is_made(file, kept[0].node)
        return _parameter_behind(generator, kept[0].value, False, depth + 1) if is_one else None
    if not isinstance(value, ast.Name) or depth > _DEPTH:
        return None
    names: set[str | None] = set()
    for binding in file.flow.reaching(value):
        loop = binding.statement
        if binding.path or (binding.value is None and binding.kind != "parameter"):
            return None
        if binding.kind == "parameter":
            names.add(None if is_element else binding.name)
        elif binding.kind == "assign":
            names.add(_parameter_behind(generator, binding.value, is_element, depth + 1))
        elif is_element and isinstance(loop, ast.For) and not leaves_out_smaller(file, loop):
            names.add(_parameter_behind(generator, loop.iter, False, depth + 1))
        else:
            return None
    return names.pop() if len(names) == 1 else None


def _is_made(file: SemanticIndex, node: ast.AST) -> bool:
    """Whether something stands in the constructor of a class."""
    function = file.function_of(node)
    return function is not None and function.name == "__init__"
