"""Reading a value of the device in every step, in front of the step boundary."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity
from tpulint.semantic import CalledStep, How, LoopNode, Pace, Read, SemanticIndex, Step, Use
from tpulint.semantic.loops.turn_code import STEP
from tpulint.semantic.reads.stand_ins import reads_of_stand_ins
from tpulint.semantic.sizes.computed_places import computed_places
from tpulint_rules.host_sync._deferred_meters import deferred
from tpulint_rules.host_sync._device_values import keep_on_device
from tpulint_rules.host_sync._inner_turns import fetched_behind
from tpulint_rules.host_sync._kept_tensors import HELD, give_tensor, hold, kept_in_place, return_tensor
from tpulint_rules.host_sync._moved_branches import moved_with_condition
from tpulint_rules.host_sync._shown_less import show_less
from tpulint_rules.host_sync._summed_reads import summed
from tpulint_rules.host_sync._there_and_back import there_and_back

_AS_NUMBER = "Add the number, `total[0] += loss.item()`: what the step has computed is only fetched."
_EARLIER = "Compute it in front of the boundary, and read only the result behind it."
MOVED = "What is shown is shown after the update of the step, and a clock read beside it reads later."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Reads by ``.item()``, ``.cpu()``, ``float()`` and the like, and by what needs a number without saying so."""
    yield from step_reads(ctx, (How.COPY, How.CAST, How.NUMBER, How.COMPARED))
    yield from _reads_of_stand_ins(ctx)


def step_reads(ctx: FileContext, hows: tuple[How, ...]) -> Iterator[Finding]:
    """Reads of these sorts that a step or an evaluation batch cannot afford, totals, lists and branches left out."""
    index = ctx.index
    taken = reads_kept_elsewhere(index)
    for loop in (*index.steps, *index.steps_called):
        costly = list(costly_reads(ctx, loop, taken))
        others = [read for read, _, kept in costly if kept is None]
        together = {**fetched_behind(ctx, loop, others), **_move_together(ctx, loop, others)}
        for read, pace, kept in costly:
            if read.how in hows:
                fix = kept or there_and_back(ctx, read) or together.get(read.node) or _held_back(ctx, read, loop)
                fix = fix or summed(ctx, read) or moved_with_condition(ctx, read, loop)
                yield _finding(ctx, read, pace, loop, fix)
    for node in index.regions.evaluation_loops:
        yield from _evaluation_reads(ctx, node, hows, taken)
    for listed in index.regions.listed_evaluations:
        for read in index.reads.inside(listed.elt):
            if read.how in hows and read.node not in taken and is_read_every_turn(index, read):
                yield _evaluation_finding(ctx, read, _in_every_batch(read, ""), there_and_back(ctx, read))
    for called in index.evaluations_called:
        for read in index.deferrals.reads_of(called):
            if read.how in hows and read.node not in taken and is_read_every_turn(index, read):
                fix = there_and_back(ctx, read)
                yield _evaluation_finding(ctx, read, _in_every_batch(read, caller_of(called)), fix)
    for read, turn in (*index.turn_code.reads, *index.turn_code.lambda_reads):
        if read.how in hows and read.use is not Use.BRANCH and read.node not in taken:
            yield ctx.finding(
                read.node,
                f"`{short(ctx.text(read.tensor))}` is {read.how.value} in every {turn}: the host waits for the device",
                there_and_back(ctx, read),
                severity=Severity.ERROR if turn == STEP else Severity.WARNING,
                certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
            )


def _reads_of_stand_ins(ctx: FileContext) -> Iterator[Finding]:
    for read, loop in reads_of_stand_ins(ctx.index):
        is_seen = loop is not None and not isinstance(loop, CalledStep)
        returned = ctx.index.returned_values.of(read, loop) if is_seen and loop is not None else None
        yield ctx.finding(
            read.node,
            f"`{short(ctx.text(read.tensor))}` is copied to the host in every step that computes it: "
            "the host waits for the device",
            None if returned is None else return_tensor(ctx, returned),
            severity=Severity.ERROR,
            certainty=Certainty.LIKELY,
        )


def costly_reads(ctx: FileContext, loop: Step, taken: Set[ast.expr]) -> Iterator[tuple[Read, Pace, FixBuilder | None]]:
    """Reads in front of the boundary, and those whose value need not be read there, with the fix for that."""
    index = ctx.index
    for read in index.deferrals.reads_of(loop):
        pace = index.pace_of(read.node)
        if read.use is Use.BRANCH or read.node in taken or pace not in (Pace.STEP, Pace.LOG_INTERVAL):
            continue
        # What becomes of the number in other files nobody here can tell.
        kept = kept_in_place(ctx, read, loop) if pace is Pace.STEP and not isinstance(loop, CalledStep) else None
        behind = index.boundaries.is_behind(read.node, loop)
        if not behind or kept is not None or (pace is Pace.STEP and not index.boundaries.has(loop)):
            yield read, pace, kept
        elif pace is Pace.STEP and index.late_values.is_computed_behind(read, loop):
            yield read, pace, None


def reads_kept_elsewhere(index: SemanticIndex) -> set[ast.expr]:
    """Reads that the rules for totals, lists, NumPy arithmetic and places speak about."""
    reads = [read for loop in index.totals.loops for total in index.totals.of(loop) for read in total.reads]
    for loop in (*index.regions.turn_loops, *index.filled_lists.inner_loops):
        reads += [read for filled in index.filled_lists.of(loop) for read in filled.reads]
    reads += [filled.read for step in index.step_loops for filled in index.filled_arrays.of(step)]
    for loop in index.regions.turn_loops:
        arrays = index.host_arithmetic.of(loop)
        reads += [] if arrays is None else arrays.copies
    return {*(read.node for read in reads), *computed_places(index), *_copied_for_gradients(index)}


def _copied_for_gradients(index: SemanticIndex) -> Iterator[ast.expr]:
    """``w.cpu()`` in ``torch.logdet(w.cpu()).to(w.device)``: XLA has no gradient of determinants."""
    for call in index.calls_to("torch.logdet", "torch.slogdet", "torch.linalg.slogdet"):
        yield from call.args[:1]


def caller_of(step: Step) -> str:
    """Words for the file whose loop runs the code, where it is another."""
    return f" of {step.call.caller}" if isinstance(step, CalledStep) and step.call.caller else ""


def _finding(ctx: FileContext, read: Read, pace: Pace, loop: Step, fix: FixBuilder | None) -> Finding:
    caller = caller_of(loop)
    index = ctx.index
    is_late = index.boundaries.has(loop) and index.late_values.is_computed_behind(read, loop)
    if is_late:
        from tpulint_rules.host_sync._computed_earlier import computed_earlier, is_fetched, read_as_number

        boundary = None if is_fetched(ctx, read, loop) else index.boundaries.sync_of(loop)
        is_added = index.late_values.is_added_up(read)
        return ctx.finding(
            read.node,
            f"`{short(ctx.text(read.tensor))}` is {'added up' if is_added else 'computed'} and {read.how.value} behind "
            f"the step boundary{caller}: a graph of its own in every step, and the host waits for it",
            read_as_number(ctx, read) if is_added else computed_earlier(ctx, read, boundary),
            severity=Severity.WARNING,
            certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
            help=_AS_NUMBER if is_added else _EARLIER,
        )
    often = (
        f"in every step{caller}"
        if pace is Pace.STEP
        else f"in front of the step boundary{caller}, so that the step is run twice"
    )
    return ctx.finding(
        read.node,
        f"`{short(ctx.text(read.tensor))}` is {read.how.value} {often}: the host waits for the device",
        fix,
        severity=Severity.ERROR if pace is Pace.STEP else Severity.WARNING,
        certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
    )


def _move_together(ctx: FileContext, loop: Step, reads: list[Read]) -> dict[ast.expr, FixBuilder]:
    """One fix for each boundary, for all statements with these reads that can move behind it: they keep their order."""
    boundaries = ctx.index.boundaries
    boundary = boundaries.sync_of(loop)
    if boundary is None or not reads:
        return {}
    others = [item for item in map(boundaries.sync_at, loop.boundaries) if item not in (None, boundary)]
    fixes = [_moved_behind(ctx, loop, reads, item) for item in (boundary, *others) if item is not None]
    return {node: fix for found in fixes for node, fix in found.items()}


def _moved_behind(ctx: FileContext, loop: Step, reads: list[Read], boundary: ast.Expr) -> dict[ast.expr, FixBuilder]:
    deferrals = ctx.index.deferrals
    deciding = [read for read in deferrals.reads_of(loop) if read.use is Use.BRANCH]
    found = {read.node: _statement_beside(ctx.index, read, boundary) for read in (*reads, *deciding)}
    statements = {statement for statement in found.values() if statement is not None}
    moved = deferrals.movable(sorted(statements, key=ctx.index.span), boundary)
    if not moved:
        return {}
    fix = ctx.fix("Move behind the step boundary", Applicability.UNSAFE, MOVED, Scope.EXPRESSION)
    fix.move_behind(moved, boundary)
    return {read.node: fix for read in reads if found[read.node] in moved}


def _held_back(ctx: FileContext, read: Read, loop: Step) -> FixBuilder | None:
    """What is read changes before the boundary: the tensor is kept, and the number taken from it there."""
    boundary = ctx.index.boundaries.sync_of(loop)
    statement = None if boundary is None else _statement_beside(ctx.index, read, boundary)
    if boundary is None or not ctx.index.held_values.is_holdable(read) or not isinstance(statement, ast.Assign):
        return None
    dependents = ctx.index.deferrals.dependents(statement, boundary)
    if dependents is None:
        return None
    fix = ctx.fix("Keep the tensor and read it behind the step boundary", Applicability.UNSAFE, HELD, Scope.EXPRESSION)
    for item in ctx.index.reads.inside(statement):
        keep_on_device(fix, ctx.index, item)
    name = ctx.text(statement.targets[0])
    fix.move_behind(dependents, boundary, f"{name} = {name}.item()")
    return fix


def _statement_beside(index: SemanticIndex, read: Read, boundary: ast.Expr) -> ast.stmt | None:
    """The statement in front of the boundary, in its block, that holds the read."""
    holder = index.parent(boundary)
    child = None if holder is None else index.tree.child_towards(holder, read.node)
    suite = index.tree.suite_of(boundary)
    if not isinstance(child, ast.stmt) or child not in suite or suite.index(child) > suite.index(boundary):
        return None
    return child


def _evaluation_reads(
    ctx: FileContext, node: LoopNode, hows: tuple[How, ...], elsewhere: Set[ast.expr]
) -> Iterator[Finding]:
    index = ctx.index
    group = index.batched_reads.of(node)
    fetched = index.batched_reads.fetched_in(node)
    taken = elsewhere | {read.node for read in (group.reads if group else ())}
    for read in fetched:
        from tpulint_rules.host_sync._computed_earlier import computed_earlier

        fix = computed_earlier(ctx, read, index.boundaries.sync_of_evaluation(node))
        is_computed = index.late_values.computes(read.tensor)
        if fix is not None or not is_computed:
            taken |= {read.node}
        if fix is not None and is_computed and How.COPY in hows:
            late = "behind the boundary: a graph of its own in every evaluation batch, and the host waits for it"
            yield _evaluation_finding(ctx, read, f"computed and {read.how.value} {late}", fix)
    holders = (node, *index.regions.functions_in(node))
    less = show_less(ctx, node, lambda read: read.node not in taken and is_read_every_turn(index, read))
    for read in {read.node: read for holder in holders for read in index.reads.inside(holder)}.values():
        if read.how not in hows or read.node in taken or not is_read_every_turn(index, read):
            continue
        if index.regions.evaluation_loop_of(read.node) is node:
            metered, held = index.meters.of(read), index.held_values.added_up(read)
            kept = None if held is None else hold(ctx, held)
            kept = kept if metered is None else give_tensor(ctx, read, metered)
            kept = kept or there_and_back(ctx, read) or deferred(ctx, read) or less.get(read.node)
            yield _evaluation_finding(ctx, read, _in_every_batch(read, ""), kept)


def is_read_every_turn(index: SemanticIndex, read: Read) -> bool:
    """Whether a read, not one that decides a branch, is made for every batch of an evaluation."""
    is_plain = read.use is not Use.BRANCH and index.regions.gate_of(read.node) is None
    return is_plain and index.pace_of(read.node) is Pace.EVALUATION


def _evaluation_finding(ctx: FileContext, read: Read, happens: str, fix: FixBuilder | None) -> Finding:
    return ctx.finding(
        read.node,
        f"`{short(ctx.text(read.tensor))}` is {happens}",
        fix,
        severity=Severity.WARNING,
        certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
    )


def _in_every_batch(read: Read, caller: str) -> str:
    return f"{read.how.value} in every evaluation batch{caller}: the host waits for the device"
