"""Adding a value read from the device to a running total, in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity
from tpulint.semantic import LoopNode, SemanticIndex
from tpulint.semantic.totals import Total
from tpulint_rules.host_sync._device_values import device_text, keep_on_device, short, torch_text

REASON = "The total is summed in float32 on the device, where it was a float64 on the host."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every addition of a device value to a total that can be kept on the device."""
    index = ctx.index
    loops: list[tuple[LoopNode, Severity]] = [(loop.node, Severity.ERROR) for loop in index.step_loops]
    loops += [(node, Severity.WARNING) for node in index.regions.evaluation_loops]
    for loop, severity in loops:
        totals = index.totals.of(loop)
        if not totals:
            continue
        fix = ctx.fix(
            "Keep the total on the device and read it once, behind the loop", Applicability.UNSAFE, REASON, Scope.LOOP
        )
        lines: list[str] = []
        before: list[str] = []
        for total in totals:
            move_to_device(fix, index, total, before, lines)
        if before:
            fix.insert_before(loop, "\n".join(before))
        if lines:
            fix.insert_after(loop, "\n".join(lines))
        where = "step" if severity is Severity.ERROR else "evaluation batch"
        for total in totals:
            for read in total.reads:
                yield ctx.finding(
                    read.node, f"`{short(ctx.text(read.node))}` makes the host wait for the device in every {where}, to add to "
                    f"`{ctx.text(total.target)}`", fix, severity=severity,
                    certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
                )  # fmt: skip


def move_to_device(fix: FixBuilder, index: SemanticIndex, total: Total, before: list[str], after: list[str]) -> None:
    """Edits for one total; lines to put in front of the loop and behind it are added to ``before`` and ``after``."""
    torch = torch_text(fix, index, total.loop)
    zero = (
        f"{torch}.zeros(1{f', dtype={torch}.long' if total.is_count else ''}).to({device_text(fix, index, total.loop)})"
    )
    target = index.text(total.target)
    if total.start_statement is None:
        name = index.names.fresh(f"device_{_identifier(total.target)}", total.loop)
        before.append(f"{name} = {zero}")
        for statement in total.additions:
            assert isinstance(statement, ast.AugAssign | ast.Assign)
            if isinstance(statement, ast.Assign):
                fix.give_up()
                return
            fix.replace(statement.target, name)
        after.append(f"{target} += {name}.item()")
    else:
        if total.start is not None:
            fix.replace(total.start, zero)
        else:
            before.append(f"{target} = {zero}")
        started_as_float = isinstance(total.start, ast.Constant) and isinstance(total.start.value, float)
        if total.is_used_behind:
            after.append(
                f"{target} = float({target})" if total.is_count and started_as_float else f"{target} = {target}.item()"
            )
    for reset in total.resets:
        fix.replace(reset, zero)
    for use in total.uses:
        fix.append(use, ".item()")
    for read in total.reads:
        keep_on_device(fix, index, read)


def _identifier(target: ast.expr) -> str:
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, ast.Subscript):
        if isinstance(target.slice, ast.Constant) and str(target.slice.value).isidentifier():
            return str(target.slice.value)
        return _identifier(target.value)
    return target.id if isinstance(target, ast.Name) else "total"
