"""Texts beside progress bars that change every tenth turn, where they changed in every turn."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import FunctionNode, LoopNode, Read, SemanticIndex

INTERVAL = 10
_MANY = {"step": "steps", "batch": "batches"}


def bars_of(index: SemanticIndex, body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """The texts of bars in the body of a loop; those with only calls between them together."""
    for suite in _suites(body):
        for statements in _runs(index, suite):
            bars = list(filter(index.shown_texts.bars_at, statements))
            if bars:
                yield bars


def show_less(ctx: FileContext, node: LoopNode, is_costly: Callable[[Read], bool]) -> dict[ast.expr, FixBuilder]:
    """The fix for each read of an evaluation loop, of those that cost, that is made for the text of a bar alone."""
    index = ctx.index
    boundary = index.boundaries.sync_of_evaluation(node)
    if boundary is None or index.parent(boundary) is not node:
        return {}
    found: dict[ast.expr, FixBuilder] = {}
    for bars in bars_of(index, node.body):
        reads = [read for statement in bars for read in index.reads.inside(statement) if is_costly(read)]
        others = [
            read for read in index.reads.inside(node) if not any(index.tree.encloses(bar, read.node) for bar in bars)
        ]
        logged = {index.text(read.tensor) for read in others if is_costly(read)}
        if any(index.text(read.tensor) in logged for read in reads):
            continue  # every turn fetches the value for something else as well
        fix = shown_less(ctx, "batch")
        if reads:
            throttle(fix, index, node, bars)
        found |= dict.fromkeys((read.node for read in reads), fix)
    return found


def shown_less(ctx: FileContext, turn: str) -> FixBuilder:
    """An empty fix, with its title and reason, that is to show texts every tenth step or batch."""
    turns = f"{INTERVAL} {_MANY[turn]}"
    reason = f"The text beside the bar changes every {turns}, where it changed in every {turn}."
    return ctx.fix(f"Show it every {turns}", Applicability.UNSAFE, reason, Scope.STATEMENT)


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
