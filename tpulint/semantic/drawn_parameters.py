"""Parameters of generators whose elements they hand on one by one, as they are: ``while True: yield next(batches)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.left_out_batches import leaves_out_smaller
from tpulint.semantic.passed_arguments import arguments_given
from tpulint.semantic.tree import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.other_files import Definition

_DEPTH = 6
"""Variables between what a generator yields and its parameter."""


def drawn_by(index: SemanticIndex, call: ast.Call) -> Iterator[ast.expr]:
    """What a call gives to a generator of another file that hands on its elements."""
    for found in index.imported.all_called(call):
        function = found.node
        if not isinstance(function, FUNCTIONS) or not found.file.kinds.functions.yields(function):
            continue
        drawn = _parameters(found)
        is_method = found.file.tree.class_of(function) is not None
        yield from (item for name, item in arguments_given(call, function, is_method) if name in drawn)


def _parameters(generator: Definition) -> set[str]:
    """The parameters that stand behind all that a generator yields; none where it yields anything else."""
    found: set[str] = set()
    for node in generator.file.tree.inside(generator.node, functions=False):
        if not isinstance(node, ast.Yield | ast.YieldFrom):
            continue
        name = _parameter_behind(generator, node.value, isinstance(node, ast.Yield))
        if name is None:
            return set()
        found.add(name)
    return found


def _parameter_behind(generator: Definition, value: ast.expr | None, is_element: bool, depth: int = 0) -> str | None:
    """The parameter that a value is, or an element of: by a loop over it, by ``iter`` and ``next``."""
    file = generator.file
    if isinstance(value, ast.Call) and len(value.args) == 1:
        name = file.names.qualified(value.func)
        if name == ("builtins.next" if is_element else "builtins.iter"):
            return _parameter_behind(generator, value.args[0], False, depth + 1)
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
