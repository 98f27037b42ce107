"""A branch that a value of the device decides, in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity
from tpulint.semantic import Pace, Read, Use
from tpulint.semantic.loops.turn_code import STEP
from tpulint_rules.host_sync._early_guards import ask_behind
from tpulint_rules.host_sync._late_switches import is_switched_off, late_switches
from tpulint_rules.host_sync.tensor_read_in_step_loop import caller_of

_NOT_A_NUMBER = "A factor that is not a number left the gradients as they were, and now makes them so."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Tests, loops and assertions on device tensors."""
    index = ctx.index
    yield from late_switches(ctx)
    for loop in (*index.steps, *index.steps_called):
        for read in index.deferrals.reads_of(loop):
            if not _decides(ctx, read):
                continue
            if index.pace_of(read.node) is Pace.STEP:
                behind = index.boundaries.has(loop) and index.boundaries.is_behind(read.node, loop)
                severity, where = Severity.WARNING if behind else Severity.ERROR, f"step{caller_of(loop)}"
                yield _finding(ctx, read, where, severity, ask_behind(ctx, read, loop))
    evaluated = (part for node in index.regions.evaluation_loops for part in (node, *index.regions.functions_in(node)))
    deciding = [read for part in dict.fromkeys(evaluated) for read in index.reads.inside(part)]
    for called in index.evaluations_called:
        deciding.extend(index.deferrals.reads_of(called))
    for read in deciding:
        gated = index.regions.gate_of(read.node) is not None
        if _decides(ctx, read) and not gated and index.pace_of(read.node) is Pace.EVALUATION:
            yield _finding(ctx, read, "evaluation batch", Severity.WARNING)
    for read, turn in index.turn_code.reads:
        if _decides(ctx, read):
            yield _finding(ctx, read, turn, Severity.ERROR if turn == STEP else Severity.WARNING)


def _decides(ctx: FileContext, read: Read) -> bool:
    return read.use is Use.BRANCH and not is_switched_off(ctx, read.node)


def _finding(ctx: FileContext, read: Read, where: str, severity: Severity, moved: FixBuilder | None = None) -> Finding:
    from tpulint_rules.host_sync._hinges import add_above_zero

    text = short(ctx.text(read.tensor))
    return ctx.finding(
        read.node,
        f"`{text}` decides what Python does, in every {where}: the host waits for the device",
        _factor_below_one(ctx, read) or add_above_zero(ctx, read) or moved,
        severity=severity,
        certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
        help="test every n steps behind the step boundary, or choose on the device with torch.where",
    )


def _factor_below_one(ctx: FileContext, read: Read) -> FixBuilder | None:
    """``if factor < 1: p.grad.mul_(factor)``, which clips gradients, as a factor of at most 1."""
    from tpulint_rules.host_sync._hinges import is_computed

    index = ctx.index
    test, statement = read.node, index.parent(read.node)
    if not isinstance(test, ast.Compare) or not isinstance(statement, ast.If) or statement.orelse:
        return None
    factor = test.left
    below_one = isinstance(test.ops[0], ast.Lt | ast.LtE) and ctx.text(test.comparators[0]) in ("1", "1.0", "1.")
    if len(test.ops) != 1 or not below_one or not isinstance(factor, ast.Name) or statement.test is not test:
        return None
    factors = _factors(statement.body, factor.id)
    if factors is None or not is_computed(ctx, factor):
        return None
    fix = ctx.fix("Scale by at most 1", Applicability.UNSAFE, _NOT_A_NUMBER, Scope.STATEMENT)
    folding = fix.fold({test: True})
    for use in factors:
        folding.replace(use, f"{factor.id}.clamp(max=1)")
    folding.write()
    return fix


def _factors(body: list[ast.stmt], name: str) -> list[ast.expr] | None:
    """Where statements multiply something in place by a variable; None when one of them does anything else."""
    found: list[ast.expr] = []
    for statement in body:
        inner: list[ast.expr] | None = None
        if isinstance(statement, ast.For | ast.If) and not statement.orelse:
            inner = _factors(statement.body, name)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            if isinstance(call.func, ast.Attribute) and call.func.attr == "mul_" and not call.keywords:
                inner = call.args
        if not inner or not all(isinstance(item, ast.Name) and item.id == name for item in inner):
            return None
        found += inner
    return found
