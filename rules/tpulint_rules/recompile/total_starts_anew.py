"""A total that starts anew with a number makes another graph of that step than of all others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic import LoopNode
from tpulint.semantic.totals.deferrable_meters import deferrable_meter
from tpulint.semantic.totals.totals import Total
from tpulint_rules.host_sync._deferred_meters import defer_updates
from tpulint_rules.host_sync._device_values import insert_behind_loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.graphs.restarts import Restart

_DEFERRED = "The meter gets its numbers when it is looked at, as tensors of the host, summed in the dtype they have."
REASON = "The total is a tensor from the start: float32, whatever is added, and a tensor where the loop has no turn."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    totals: dict[LoopNode, dict[str, Total]] = {}
    for found in index.restarts.all:
        total = _total(ctx, found)
        if total is not None:
            totals.setdefault(found.loop.node, {})[found.name] = total
    fixes = {loop: _start_uploaded(ctx, loop, named) for loop, named in totals.items()}
    meters: dict[tuple[ast.Call, ...], FixBuilder] = {}
    for found in index.restarts.all:
        first = found.carried[0]
        yield ctx.finding(
            found.start,
            f"`{found.name}` starts anew with a number, a constant of the step that follows: "
            "that step is compiled once more",
            fixes[found.loop.node] if found.name in totals.get(found.loop.node, ()) else _defer(ctx, found, meters),
            certainty=Certainty.LIKELY,
            related=(
                (index.span(first), "goes on in every step"),
                *((index.span(one), "runs here") for one in index.regions.boundaries_in(found.loop.node)[:1]),
            ),
        )


def _total(ctx: FileContext, found: Restart) -> Total | None:
    """The variable of which all is seen; what an object keeps is not."""
    additions = tuple(one for one in found.carried if isinstance(one, ast.stmt))
    return ctx.index.totals.of_tensors(found.loop.node, additions) if additions else None


def _defer(ctx: FileContext, found: Restart, meters: dict[tuple[ast.Call, ...], FixBuilder]) -> FixBuilder | None:
    """Have the meter wait with its sums until it is looked at; one fix for all of its starts."""
    call = found.carried[0]
    meter = deferrable_meter(ctx.index, call) if isinstance(call, ast.Call) else None
    if meter is None:
        return None
    if meter.creations not in meters:
        fix = ctx.fix("Update the meter when it is looked at", Applicability.UNSAFE, _DEFERRED, Scope.LOOP)
        defer_updates(ctx, fix, meter)
        meters[meter.creations] = fix
    return meters[meter.creations]


def _start_uploaded(ctx: FileContext, loop: LoopNode, totals: dict[str, Total]) -> FixBuilder:
    """Start the totals of a loop with tensors; behind it they have no dimension, as a sum of losses has none."""
    from tpulint_rules.host_sync._uploaded_starts import UploadedStarts, add_in_time

    index = ctx.index
    fix = ctx.fix("Start with a tensor that is copied to the device", Applicability.UNSAFE, REASON, Scope.LOOP)
    starts = UploadedStarts(fix, index)
    behind: dict[LoopNode, list[str]] = {}
    for name, total in totals.items():
        assert total.own is not None
        starts.upload(total)
        if total.own.is_used_behind:
            behind.setdefault(total.own.over, []).append(f"{name} = {name}[0]")
        for use in total.own.uses:
            fix.append(use, "[0]")
        for average in total.own.averages:
            fix.insert_before(average, f"{name} = {name}[0]")
    starts.write()
    add_in_time(fix, index, loop, [statement for total in totals.values() for statement in total.additions])
    for over, lines in behind.items():
        insert_behind_loop(fix, over, "\n".join(lines))
    return fix
