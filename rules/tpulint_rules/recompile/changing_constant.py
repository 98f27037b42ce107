"""A Python number that another turn has another value of, where an operation keeps it as a constant of its graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding

_MOMENTUM = "momentum"


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.loops:
        return
    for call in index.turn_code.nodes(ast.Call):
        numbers = index.graph_numbers.constants(call)
        found = next(((n, c) for n in numbers if (c := index.changing_numbers.cause(n)) is not None), None)
        turn = index.turn_code.turn_of(call) if found is not None else None
        if found is None or turn is None or not index.is_device_tensor(call):
            continue
        yield _finding(ctx, found[0], found[1], turn, index.value(call).certain)
    for statement in index.turn_code.nodes(ast.Assign):
        cause = _momentum(ctx, statement)
        turn = index.turn_code.turn_of(statement) if cause is not None else None
        if cause is not None and turn is not None:
            yield _finding(ctx, statement.value, cause, turn, False)


def _finding(ctx: FileContext, number: ast.expr, cause: ast.AST, turn: str, certain: bool) -> Finding:
    return ctx.finding(
        number,
        f"`{ctx.text(number)}` is another number in every {turn}, and this operation keeps it as a constant of the "
        "graph: each value is compiled",
        certainty=Certainty.CERTAIN if certain else Certainty.LIKELY,
        related=((ctx.index.span(cause), "changes here"),),
    )


def _momentum(ctx: FileContext, statement: ast.Assign) -> ast.AST | None:
    """What changes in `layer.momentum = ...`, where the layer is asked to be a batch normalization."""
    index, target = ctx.index, statement.targets[0]
    if not isinstance(target, ast.Attribute) or target.attr != _MOMENTUM or not isinstance(target.value, ast.Name):
        return None
    for ancestor in index.tree.ancestors(statement):
        if not isinstance(ancestor, ast.If):
            continue
        test = ancestor.test
        if not isinstance(test, ast.Call) or index.qualified_name(test.func) != "builtins.isinstance":
            continue
        names = [
            index.qualified_name(part) or "" for part in index.tree.inside(test) if isinstance(part, ast.Attribute)
        ]
        if index.text(test.args[0]) == target.value.id and any("BatchNorm" in name for name in names):
            return index.changing_numbers.cause(statement.value)
    return None
