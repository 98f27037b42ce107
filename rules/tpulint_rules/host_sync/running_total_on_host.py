"""Adding a value read from the device to a running total, in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity
from tpulint.semantic import LoopNode, Read, SemanticIndex
from tpulint.semantic.totals import Total

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
        fix = ctx.fix("Keep the total on the device and read it once, behind the loop", Applicability.UNSAFE, REASON, Scope.LOOP)
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
                    read.node, f"`{_short(ctx.text(read.node))}` makes the host wait for the device in every {where}, to add to "
                    f"`{ctx.text(total.target)}`", fix, severity=severity,
                    certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
                )  # fmt: skip


def move_to_device(fix: FixBuilder, index: SemanticIndex, total: Total, before: list[str], after: list[str]) -> None:
    """Edits for one total; lines to put in front of the loop and behind it are added to ``before`` and ``after``."""
    torch = fix.use("torch", at=total.loop)
    zero = f"{torch}.zeros(1{f', dtype={torch}.long' if total.is_count else ''}).to({device_text(fix, index, total.loop)})"
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
            after.append(f"{target} = float({target})" if total.is_count and started_as_float else f"{target} = {target}.item()")
    for reset in total.resets:
        fix.replace(reset, zero)
    for use in total.uses:
        fix.append(use, ".item()")
    for read in total.reads:
        keep_on_device(fix, index, read)


def keep_on_device(fix: FixBuilder, index: SemanticIndex, read: Read) -> None:
    """Write the tensor where its value was read."""
    text = index.text(read.tensor)
    free = index.totals.is_integer(read.tensor) or not index.regions.records_gradient(read.node)
    suffix = "" if free or text.endswith((".detach()", ".data")) else ".detach()"
    if isinstance(read.node, ast.Call) and isinstance(read.node.func, ast.Attribute):
        fix.replace_tail(read.node, read.tensor, suffix)
    else:
        fix.replace(read.node, fix.text(read.tensor) + suffix)


def device_text(fix: FixBuilder, index: SemanticIndex, loop: LoopNode) -> str:
    """How the device is written in front of a loop: as in the loop, where that is possible."""
    return index.totals.device_text(loop) or f"{fix.use('torch_xla', at=loop)}.device()"


def _identifier(target: ast.expr) -> str:
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, ast.Subscript):
        if isinstance(target.slice, ast.Constant) and str(target.slice.value).isidentifier():
            return str(target.slice.value)
        return _identifier(target.value)
    return target.id if isinstance(target, ast.Name) else "total"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."

