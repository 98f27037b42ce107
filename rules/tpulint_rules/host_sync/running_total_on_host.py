"""Adding a value read from the device to a running total, in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity
from tpulint.semantic import LoopNode, SemanticIndex
from tpulint.semantic.totals.totals import Home, Total
from tpulint_rules.host_sync._device_values import insert_behind_loop, keep_on_device
from tpulint_rules.host_sync._uploaded_starts import UploadedStarts, add_in_time, starts_as_float

REASON = "The total is summed in float32 on the device, where it was a float64 on the host."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every addition of a device value to a total that can be kept on the device."""
    index = ctx.index
    for loop, where in index.totals.loops.items():
        totals = index.totals.of(loop)
        if not totals:
            continue
        fix = ctx.fix("Sum on the device and read the total behind the loop", Applicability.UNSAFE, REASON, Scope.LOOP)
        move_to_device(fix, index, loop, totals)
        for total in totals:
            for read in total.reads:
                yield ctx.finding(
                    read.node,
                    f"`{short(ctx.text(read.node))}` makes the host wait for the device in every {where}, "
                    f"to add to `{ctx.text(total.target)}`",
                    fix,
                    severity=Severity.WARNING if where == "evaluation batch" else Severity.ERROR,
                    certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
                )


def move_to_device(fix: FixBuilder, index: SemanticIndex, loop: LoopNode, totals: list[Total]) -> None:
    """All totals of a loop as tensors, with the reads behind the loop."""
    starts = UploadedStarts(fix, index)
    after: dict[LoopNode, list[str]] = {}
    taken = set[str]()
    for total in totals:
        target, own = index.text(total.target), total.own
        if total.home is Home.NEW_VARIABLE:
            name = index.names.fresh(f"device_{_identifier(total.target)}", loop)
            while name in taken:  # `train["loss"] += ...` and `other["loss"] += ...` of one loop
                name += "_"
            taken.add(name)
            starts.put_before(loop, f"{name} = {starts.zero(total)}")
            after.setdefault(loop, []).append(f"{target} += {name}.item()")
            for statement in total.additions:
                assert isinstance(statement, ast.AugAssign)
                fix.replace(statement.target, name)
        elif own is not None and total.home is Home.VARIABLE:
            starts.upload(total)
            if own.is_used_behind:
                as_float = total.is_count and starts_as_float(total)
                text = f"{target} = float({target})" if as_float else f"{target} = {target}.item()"
                after.setdefault(own.over, []).append(text)
        elif own is not None and own.is_used_behind:
            # The loop may have no turn, which leaves the number 0.
            whole = total.is_count and not starts_as_float(total)
            after.setdefault(loop, []).append(f"{target} = {'int' if whole else 'float'}({target})")
        for use in own.uses if own is not None else ():
            fix.append(use, ".item()")
        for average in own.averages if own is not None else ():
            fix.insert_before(average, f"{target} = {target}.item()")
        for read in total.reads:
            keep_on_device(fix, index, read)
    starts.write()
    add_in_time(fix, index, loop, [statement for total in totals for statement in total.additions])
    within_turn = all(total.home is Home.INNER_VARIABLE for total in totals)
    for over, lines in after.items():
        insert_behind_loop(fix, over, "\n".join(lines), _block_ended_by(index, over) if within_turn else over)


def _block_ended_by(index: SemanticIndex, loop: LoopNode) -> ast.stmt:
    """The outermost ``with`` that a loop ends, or itself: behind it the read can go on to the end of the step."""
    place: ast.stmt = loop
    while isinstance(holder := index.tree.parent(place), ast.With) and holder.body[-1] is place:
        place = holder
    return place


def _identifier(target: ast.expr) -> str:
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, ast.Subscript):
        if isinstance(target.slice, ast.Constant) and str(target.slice.value).isidentifier():
            return str(target.slice.value)
        return _identifier(target.value)
    return target.id if isinstance(target, ast.Name) else "total"
