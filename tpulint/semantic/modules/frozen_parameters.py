"""Parameters that are frozen in sight: ``for p in model.encoder.parameters(): p.requires_grad = False``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.model import Pace
from tpulint.records import NamedTuple
from tpulint.semantic.project.other_files import definition_called
from tpulint.semantic.syntax.nodes import FUNCTIONS, is_of_self
from tpulint.semantic.syntax.variables import root_of
from tpulint.semantic.values.creations import overlap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.project.other_files import Definition

_FLAG, _SETTER = "requires_grad", "requires_grad_"
_LISTING = frozenset({
    "parameters", "named_parameters", "children", "named_children", "modules", "named_modules", "values", "items",
})  # fmt: skip
_GOING_THROUGH = ("builtins.list", "builtins.enumerate", "builtins.reversed")
_DEPTH = 4


class Freezing(NamedTuple):
    """One place that says of parameters that they need no gradient."""

    node: ast.AST
    whose: ast.expr
    """The module, or the parameter, that is frozen."""


def frozen_of_model(index: SemanticIndex, model: ast.expr, at: ast.AST) -> Iterator[Freezing]:
    """Where parameters of a model are frozen before a node runs, for good: here, or by a call of what freezes them."""
    moves = index.moves
    made = moves.creations.of(model)
    for one in (*_freezings(index), *_by_calls(index)):
        is_of_model = overlap(moves.creations.of(one.whose), made)
        if is_of_model and index.paces.of(one.node) is not Pace.STEP and moves.may_precede(one.node, at):
            yield one


def _by_calls(index: SemanticIndex) -> Iterator[Freezing]:
    """Calls of functions and methods that freeze what they are given: ``freeze(model)``, ``model.freeze_encoder()``."""
    for call in index.calls:
        called = definition_called(index, call)
        if called is None or not isinstance(called.node, FUNCTIONS) or called.node.name == "__init__":
            continue
        if _FLAG not in called.file.text(called.node):
            continue
        file, parameters = called.file, called.node.args.args
        for one in _freezings(file):
            root = root_of(one.whose)
            if root is None or file.tree.function_of(one.node) is not called.node:
                continue
            if file.tree.takes_object(called.node) and root.id == parameters[0].arg:
                given = [call.func.value] if isinstance(call.func, ast.Attribute) else []
            else:
                given = file.definitions.arguments.of_call(call, called.node, root.id)
            yield from (Freezing(call, item) for item in given)


def frozen_by_class(owner: Definition, starts: list[ast.FunctionDef | ast.AsyncFunctionDef]) -> Iterator[Freezing]:
    """Where a class freezes parts of itself in functions that run when an object is made."""
    tree = owner.file.tree
    for one in _freezings(owner.file):
        root = one.whose
        while isinstance(root, ast.Attribute | ast.Subscript) and not is_of_self(root):
            root = root.value
        if tree.function_of(one.node) in starts and is_of_self(root):
            yield one


def _freezings(index: SemanticIndex) -> list[Freezing]:
    """All places of a file that freeze what none of its places lets learn again."""
    if not index.source.has_any((_FLAG,)):
        return []
    said = [*_said(index)]
    learning = {index.text(one.whose) for one, learns in said if learns}
    return [one for one, learns in said if not learns and index.text(one.whose) not in learning]


def _said(index: SemanticIndex) -> Iterator[tuple[Freezing, bool]]:
    """Places that say whether parameters need a gradient, with what they say."""
    for call, receiver in index.method_calls(_SETTER):
        given = [*call.args, *(item.value for item in call.keywords)]
        value = given[0] if given else ast.Constant(True)
        yield from _seen(index, call, receiver, value)
    for node in index.tree.attributes_called(_FLAG):
        statement = index.tree.parents[node]
        if isinstance(statement, ast.Assign) and node in statement.targets:
            yield from _seen(index, node, node.value, statement.value)


def _seen(index: SemanticIndex, node: ast.AST, target: ast.expr, value: ast.expr) -> Iterator[tuple[Freezing, bool]]:
    whose = _gone_through(index, target, 0)
    if isinstance(value, ast.Constant) and whose is not None and not index.flags.leave_out(node):
        yield Freezing(node, whose), bool(value.value)


def _gone_through(index: SemanticIndex, target: ast.expr, depth: int) -> ast.expr | None:
    """The module that loops go through to a parameter; the parameter itself where none does."""
    while True:
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
            target = target.value
        elif isinstance(target, ast.Call):
            func = target.func
            if isinstance(func, ast.Attribute) and func.attr in _LISTING:
                target = func.value
            elif index.qualified_name(func) in _GOING_THROUGH and target.args:
                target = target.args[0]
            else:
                return None
        else:
            break
    bindings = index.flow.reaching(target) if isinstance(target, ast.Name) else ()
    loops = [one.value for one in bindings if one.kind == "loop" and one.value is not None]
    if len(loops) == 1 == len(bindings) and depth < _DEPTH:
        return _gone_through(index, loops[0], depth + 1)
    return target if isinstance(target, ast.Name | ast.Attribute | ast.Subscript) else None
