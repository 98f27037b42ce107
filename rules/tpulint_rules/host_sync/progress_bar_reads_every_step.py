"""A progress bar that shows a value of the device anew in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic import FunctionNode, LoopNode, Pace, Read, SemanticIndex, StepLoop, Use

SHOWN_LESS = "The text beside the bar changes every 10 steps, where it changed in every step."
INTERVAL = 10


def check(ctx: FileContext) -> Iterator[Finding]:
    """Texts of progress bars with a read in them, behind the boundary of a step loop."""
    index = ctx.index
    for loop in index.step_loops:
        boundary = index.boundaries.sync_of(loop)
        if boundary is None or index.parent(boundary) is not loop.node:
            continue
        for statements in (run for suite in _suites(loop.node.body) for run in _runs(index, suite)):
            bars = list(filter(index.shown_texts.bars_at, statements))
            reads = [read for statement in bars for read in index.reads.inside(statement) if _counts(index, read, loop)]
            reads = [read for read in reads if not _is_needed_beside(index, read, bars, loop)]
            if not reads:
                continue
            fix = ctx.fix(f"Show it every {INTERVAL} steps", Applicability.UNSAFE, SHOWN_LESS, Scope.STATEMENT)
            throttle(fix, index, loop.node, bars)
            for read in reads:
                yield ctx.finding(
                    read.node,
                    f"`{short(ctx.text(read.tensor))}` is fetched in every step for the text of a progress bar",
                    fix,
                    certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
                )


def _suites(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """The statements of a turn, and those under its conditions: ``if rank == 0: bar.set_postfix(...)``."""
    yield body
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _suites(statement.body)
            yield from _suites(statement.orelse)


def _runs(index: SemanticIndex, body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Neighbouring statements of one sort: calls and texts of bars."""
    run: list[ast.stmt] = []
    for statement in body:
        is_call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        if is_call or index.shown_texts.bars_at(statement):
            run.append(statement)
            continue
        yield run
        run = []
    yield run


def _counts(index: SemanticIndex, read: Read, loop: StepLoop) -> bool:
    return index.pace_of(read.node) is Pace.STEP and index.boundaries.is_behind(read.node, loop)


def _is_needed_beside(index: SemanticIndex, read: Read, bars: list[ast.stmt], loop: StepLoop) -> bool:
    """Whether every step logs the value as well, ``writer.add_scalar("loss", loss.item())``.

    One transfer serves both, and the text beside the bar costs nothing.
    """
    name = read.tensor
    return isinstance(name, ast.Name) and any(
        other.use is Use.LOG
        and isinstance(other.tensor, ast.Name)
        and other.tensor.id == name.id
        and index.flow.reaching(other.tensor) == index.flow.reaching(name)
        and _counts(index, other, loop)
        and not any(index.tree.encloses(bar, other.node) for bar in bars)
        and not index.shown_texts.bars_at(index.statement_of(other.node))
        for other in index.reads.inside(loop.node)
    )


def throttle(fix: FixBuilder, index: SemanticIndex, loop: LoopNode | FunctionNode, bars: list[ast.stmt]) -> None:
    """Put bars of a loop under an ``if`` that opens every tenth step."""
    counter = None if isinstance(loop, ast.FunctionDef | ast.AsyncFunctionDef) else index.counters.of(loop)
    if counter is None:
        counter = _count_turns(fix, index, loop)
    suite = index.tree.suite_of(bars[0])
    together = [suite[at] for at in range(suite.index(bars[0]), suite.index(bars[-1]) + 1)]
    for group in [together] if together == bars else [[bar] for bar in bars]:
        fix.put_under(group, f"if {counter} % {INTERVAL} == 0:")


def _count_turns(fix: FixBuilder, index: SemanticIndex, loop: ast.AST) -> str:
    """Let ``enumerate`` count the turns of a loop."""
    if not isinstance(loop, ast.For):
        fix.give_up()
        return ""
    name = index.names.fresh("step", loop)
    target, iterable = index.text(loop.target), index.span(loop.iter)
    if isinstance(loop.target, ast.Tuple) and index.span(loop.target).start == index.span(loop.target.elts[0]).start:
        target = f"({target})"  # `(x, z), y` begins with a part that is in brackets
    fix.replace(loop.target, f"{name}, {target}")
    fix.insert(iterable.start, "enumerate(")
    fix.insert(iterable.end, ")")
    return name
