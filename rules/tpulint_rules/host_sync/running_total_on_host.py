"""Adding a value read from the device to a running total, in every step."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity, Span
from tpulint.semantic import Binding, LoopNode, SemanticIndex
from tpulint.semantic.bindings import element_of
from tpulint.semantic.late_additions import late_additions
from tpulint.semantic.totals import Home, Total
from tpulint_rules.host_sync._device_values import device_text, insert_behind_loop, keep_on_device, torch_text

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
    before: dict[LoopNode, list[str]] = {}
    behind: dict[ast.stmt, list[str]] = {}
    after: list[str] = []
    for total in totals:
        target, own = index.text(total.target), total.own
        if total.home is Home.NEW_VARIABLE:
            name = index.names.fresh(f"device_{_identifier(total.target)}", loop)
            before.setdefault(loop, []).append(f"{name} = {_zero(fix, index, total)}")
            after.append(f"{target} += {name}.item()")
            for statement in total.additions:
                assert isinstance(statement, ast.AugAssign)
                fix.replace(statement.target, name)
        elif own is not None and total.home is Home.VARIABLE:
            zero = _zero(fix, index, total)
            _start_with(fix, index, total, zero, before)
            for reset in own.resets:
                statement = index.statement_of(reset)
                if _is_shared(statement):
                    behind.setdefault(statement, []).append(f"{target} = {zero}")
                else:
                    fix.replace(reset, zero)
            if own.is_used_behind:
                as_float = total.is_count and _starts_as_float(total)
                after.append(f"{target} = float({target})" if as_float else f"{target} = {target}.item()")
        elif own is not None and own.is_used_behind:
            # The loop may have no turn, which leaves the number 0.
            whole = total.is_count and not _starts_as_float(total)
            after.append(f"{target} = {'int' if whole else 'float'}({target})")
        for use in own.uses if own is not None else ():
            fix.append(use, ".item()")
        for average in own.averages if own is not None else ():
            fix.insert_before(average, f"{target} = {target}.item()")
        for read in total.reads:
            keep_on_device(fix, index, read)
    for place, lines in before.items():
        fix.insert_before(place, "\n".join(lines))
    for statement, lines in behind.items():
        fix.insert_after(statement, "\n".join(lines))
    _add_in_time(fix, index, loop, [statement for total in totals for statement in total.additions])
    if after:
        within_turn = all(total.home is Home.INNER_VARIABLE for total in totals)
        insert_behind_loop(fix, loop, "\n".join(after), _block_ended_by(index, loop) if within_turn else loop)


def _add_in_time(fix: FixBuilder, index: SemanticIndex, loop: LoopNode, additions: list[ast.stmt]) -> None:
    """Let the step add up what it computes: behind its boundary, the sums would be left to the next one."""
    late = late_additions(index, loop, additions)
    if late is None or any(map(fix.has_neighbours, (*late.passed, late.last))):
        return
    source = index.source
    starts = [source.line_start(index.span(statement).start) - 1 for statement in late.passed]
    ends = [source.line_end(index.span(statement).end) + 1 for statement in late.passed]
    if not any(fix.covers(Span(*around)) for around in zip(starts, ends, strict=True)):
        fix.move_behind(late.passed, late.last)


def _block_ended_by(index: SemanticIndex, loop: LoopNode) -> ast.stmt:
    """The outermost ``with`` that a loop ends, or itself: behind it the read can go on to the end of the step."""
    place: ast.stmt = loop
    while isinstance(holder := index.tree.parent(place), ast.With) and holder.body[-1] is place:
        place = holder
    return place


def _zero(fix: FixBuilder, index: SemanticIndex, total: Total) -> str:
    """A sum of nothing, uploaded: a 0 made on the device would be a constant, and another graph."""
    torch = torch_text(fix, index, total.loop)
    dtype = f", dtype={torch}.long" if total.is_count else ""
    return f"{torch}.zeros(1{dtype}).to({device_text(fix, index, total.loop)})"


def _start_with(
    fix: FixBuilder, index: SemanticIndex, total: Total, zero: str, before: dict[LoopNode, list[str]]
) -> None:
    """Start the total with a tensor: in place of the number, or on a line of its own where `a = b = 0` shares it."""
    assert total.own is not None
    start = total.own.start
    element, statement = element_of(start), start.statement
    if element is not None and not _is_shared(statement) and _is_readable_at(index, zero, statement):
        if isinstance(statement, ast.AnnAssign):  # `total: float = 0.0` says what is no longer so
            fix.replace(statement, f"{index.text(statement.target)} = {zero}")
        else:
            fix.replace(element, zero)
        return
    outer = _outermost(index, total)
    if outer is not total.loop and not _is_readable_at(index, zero, outer):
        fix.give_up()
    before.setdefault(outer, []).append(f"{start.name} = {zero}")


def _is_shared(statement: ast.AST | None) -> bool:
    """Whether several variables get the same value: ``a = b = 0``, a tensor for both would add up both."""
    return isinstance(statement, ast.Assign) and len(statement.targets) > 1


def _outermost(index: SemanticIndex, total: Total) -> LoopNode:
    """The loop that the total starts in front of: in front of an inner one it would start anew in every epoch."""
    assert total.own is not None
    loop, start = total.loop, total.own.start.statement
    while (outer := index.tree.loop_of(loop)) is not None and not index.tree.encloses(outer, start):
        loop = outer
    return loop


def _is_readable_at(index: SemanticIndex, text: str, place: ast.AST) -> bool:
    """Whether the variables in a text have their values where a statement stands, in front of the loop."""
    scope = index.names.scope_of(place)
    for name in re.findall(r"(?<![\w.])[A-Za-z_]\w*", text):
        found = index.names.find(name, scope)
        if found is not None and found[0] is scope:
            begin = index.span(place).start
            # What all branches of a choice bind, and nothing binds behind it, is what the loop reads.
            in_front = all(binding.kind == "parameter" or _ends_by(index, binding, begin) for binding in found[1])
            if not in_front and not any(
                binding.kind == "parameter"
                or (index.flow.dominates(binding, place) and _ends_by(index, binding, begin))
                for binding in found[1]
            ):
                return False
    return True


def _ends_by(index: SemanticIndex, binding: Binding, offset: int) -> bool:
    """Whether a variable is bound by a statement that stands in front of an offset."""
    return binding.statement is not None and index.span(binding.statement).end <= offset


def _starts_as_float(total: Total) -> bool:
    element = None if total.own is None else element_of(total.own.start)
    return isinstance(element, ast.Constant) and isinstance(element.value, float)


def _identifier(target: ast.expr) -> str:
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, ast.Subscript):
        if isinstance(target.slice, ast.Constant) and str(target.slice.value).isidentifier():
            return str(target.slice.value)
        return _identifier(target.value)
    return target.id if isinstance(target, ast.Name) else "total"
