"""Parameters that a call nobody follows may give a tensor, where others give a number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.functions.default_flags import is_open
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.loops.numbered_turns import numbers_turns
from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.values.value import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_NUMBERS = ("int", "float", "bool")
_RUN_BY_OBJECTS = ("forward",)
"""Methods that calls run without their name, as they do ``__call__`` and the like."""
_IDENTITY = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
_DEPTH = 12


def may_be_given_tensor(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether a number is calculated of a parameter that some call, seen or not, may give a tensor.

    ``def drift(self, t): return self.thetas[t]``: one loop gives its counter, and another file calls ``sde.drift(t)``
    with the times of a batch, of an object that nobody follows.
    """
    return _UnseenCallers().may_give(index, node, 0, is_given=False)


class _UnseenCallers:
    """Answers about one number, and remembers the parameters and values that were looked at."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, FunctionNode, str]] = set()
        self._values: set[tuple[ast.expr, bool]] = set()

    def may_give(self, index: SemanticIndex, node: ast.expr, depth: int, is_given: bool) -> bool:
        """Whether an expression may be a tensor; one that no call gives only as far as parameters make it one."""
        if depth > _DEPTH:
            return True
        if isinstance(node, ast.Name) and (bindings := index.flow.reaching(node)):
            return any(self._may_bind(index, node, one, depth + 1, is_given) for one in bindings)
        if isinstance(node, ast.BinOp):
            return any(self.may_give(index, part, depth + 1, is_given) for part in (node.left, node.right))
        if isinstance(node, ast.IfExp):
            return any(self.may_give(index, part, depth + 1, is_given) for part in (node.body, node.orelse))
        if isinstance(node, ast.UnaryOp):
            return self.may_give(index, node.operand, depth + 1, is_given)
        return is_given and not _is_number(index, node)

    def _may_bind(self, index: SemanticIndex, name: ast.Name, binding: Binding, depth: int, is_given: bool) -> bool:
        if binding.kind == "parameter":
            function = binding.statement
            return not isinstance(function, FUNCTIONS) or self._may_be_given(index, function, binding.name, depth)
        if binding.kind == "assign" and binding.value is not None and not binding.path:
            if (binding.value, is_given) in self._values:
                return False  # `at = (at + 1) % 100`, which goes on from itself
            self._values.add((binding.value, is_given))
            return self.may_give(index, binding.value, depth, is_given)
        if not is_given or binding.kind == "augment":
            return False
        return not (binding.kind == "loop" and numbers_turns(index, binding)) and not _is_number(index, name)

    def _may_be_given(self, index: SemanticIndex, function: FunctionNode, parameter: str, depth: int) -> bool:
        key = index.source.path, function, parameter
        if key in self._seen:
            return False
        self._seen.add(key)
        if _is_said_to_be_number(index, function, parameter):
            return False
        if function.name in _RUN_BY_OBJECTS or function.name.startswith("__"):
            return True
        calls = _calls(index, function)
        if calls is None:
            return True
        for file, call in calls:
            given = dict(arguments_given(call, function, index.tree.takes_object(function))).get(parameter)
            if is_open(call) or (given is not None and self.may_give(file, given, depth + 1, is_given=True)):
                return True
        return False


def _is_number(index: SemanticIndex, node: ast.expr) -> bool:
    return index.kind(node) is Kind.HOST or index.changing_numbers.cause(node) is not None


def _is_said_to_be_number(index: SemanticIndex, function: FunctionNode, parameter: str) -> bool:
    """``t: int``, or one that decides what Python does, ``if t > 0:`` and ``range(t)``: a batch of times cannot."""
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    if any(item.arg == parameter and index.text(item.annotation) in _NUMBERS for item in arguments if item.annotation):
        return True
    loads = index.names.loads(parameter, index.names.scope_of(function.body[0]))
    return any(_decides(index, load) for load in loads)


def _decides(index: SemanticIndex, load: ast.Name) -> bool:
    node: ast.AST = load
    parent = index.tree.parents[load]
    if isinstance(parent, ast.Call):
        return index.qualified_name(parent.func) == "builtins.range"
    if isinstance(parent, ast.Compare) and not isinstance(parent.ops[0], _IDENTITY):
        node, parent = parent, index.tree.parents[parent]
    while isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)):
        node, parent = parent, index.tree.parents[parent]
    return isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert) and parent.test is node


def _calls(index: SemanticIndex, function: FunctionNode) -> list[tuple[SemanticIndex, ast.Call]] | None:
    """All that the project calls by the name of a function, as far as it may be that; None if something keeps it."""
    found: list[tuple[SemanticIndex, ast.Call]] = []
    itself = index.imported.itself()
    others = [] if itself is None else index.imported.mentioning(function.name)
    if others is None:
        return None
    for file in (index, *(other for other in others if other is not itself)):
        for mention in _mentions(file, index, function):
            call = file.parent(mention)
            if not isinstance(call, ast.Call) or call.func is not mention:
                return None
            found.append((file, call))
    return found


def _mentions(file: SemanticIndex, index: SemanticIndex, function: FunctionNode) -> Iterator[ast.expr]:
    """What a file calls like a function of another, or of its own, unless it is known to be something else."""
    is_method = index.tree.class_of(function) is not None
    attributes = file.tree.attributes_called(function.name)
    if is_method:
        yield from (node for node in attributes if isinstance(node.ctx, ast.Load))
        return
    nodes: list[ast.Name | ast.Attribute] = [*file.tree.names_called(function.name), *attributes]
    for node in nodes:
        if not isinstance(node.ctx, ast.Load):
            continue
        meant = file.imported.definition(node)
        if file is index and isinstance(node, ast.Name):
            bound = index.names.bindings(node)
            if not bound or any(one.node is function for one in bound):
                yield node
        elif _is_same(meant, index, function):
            yield node


def _is_same(meant: Definition | None, index: SemanticIndex, function: FunctionNode) -> bool:
    if meant is None or not isinstance(meant.node, FUNCTIONS) or meant.node.name != function.name:
        return False
    return meant.file is index.imported.itself() or meant.file.source.path == index.source.path
