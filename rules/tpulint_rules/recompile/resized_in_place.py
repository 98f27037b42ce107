"""A device tensor that keeps its name from turn to turn and is given its size anew in each: ``noise.resize_(...)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic.graphs.lasting_tensors import are_on_device, is_given_one, values_kept
from tpulint_rules.recompile._made_anew import made_anew


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every such call; those of one variable are mended together, or the last would resize what was made anew."""
    index = ctx.index
    if not index.turn_code.exists:
        return
    found: dict[tuple[object, str], list[tuple[ast.Call, str, bool]]] = {}
    given: list[tuple[ast.Call, str]] = []
    for call, tensor in index.method_calls("resize_"):
        turn = index.turn_code.turn_of(call)
        values = [] if turn is None else values_kept(index, tensor)
        if turn is not None and are_on_device(values):
            is_certain = all(value.certain for value in values)
            whose = index.names.scope_of(tensor) if isinstance(tensor, ast.Name) else index.tree.class_of(tensor)
            found.setdefault((whose, ctx.text(tensor)), []).append((call, turn, is_certain))
        elif turn is not None and is_given_one(index, tensor):
            given.append((call, turn))
    for (_, name), calls in found.items():
        fix = made_anew(ctx, [call for call, _, _ in calls])
        for call, turn, is_certain in calls:
            yield ctx.finding(
                call,
                f"`{name}` is resized in place in every {turn}: {_harm(turn)}",
                fix,
                certainty=Certainty.CERTAIN if is_certain else Certainty.LIKELY,
            )
    for call, turn in given:
        assert isinstance(call.func, ast.Attribute)
        what = f"`{ctx.text(call.func.value)}`, a tensor that the caller keeps,"
        yield ctx.finding(call, f"{what} is resized in place in every {turn}: {_harm(turn)}")


def _harm(turn: str) -> str:
    return f"every {turn} is compiled, even where the size stays the same, and a larger size fails"
