"""A training loop in which nothing tells where a step ends."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding, Scope, Span
from tpulint.semantic import FunctionNode, LoopNode, StepFunction
from tpulint_rules.step._engine_loops import unended_engines
from tpulint_rules.step._host_loops import runs_on_host

SAFE = "A step boundary changes when the recorded work runs, not what it computes."
LIKELY = "That this loop updates parameters is likely, not certain."
KEPT = "Weights kept on the device are loaded again: with a boundary behind the load, an update can delete them."
ELSEWHERE = "The loop stands in another file, and may have a step boundary of its own."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every step loop without a boundary."""
    index = ctx.index
    if not index.kinds.mentions_device:
        return
    yield from unended_engines(ctx, SAFE)
    for step in index.steps:
        if step.boundaries or index.clocks.ends(step) or runs_on_host(ctx, step.node):
            continue
        is_function = isinstance(step, StepFunction)
        if isinstance(step, StepFunction) and step.is_ended:
            continue
        certain = step.is_certain and not is_function
        fix = ctx.fix(
            "Mark the end of the step",
            Applicability.SAFE if certain else Applicability.UNSAFE,
            SAFE if certain else ELSEWHERE if is_function else LIKELY,
            Scope.STATEMENT,
        )
        if index.kept_states.are_deleted:
            fix.lower(Applicability.UNSAFE, KEPT)
        for place in index.turns.boundary_places(step):
            fix.insert_after(place, fix.emit.boundary(place))
        yield ctx.finding(
            header(ctx, step.node),
            "function trains one step and has no step boundary: the graph grows from call to call and is compiled anew "
            "each time"
            if is_function
            else "training loop has no step boundary: the graph grows from step to step and is compiled anew each time",
            fix,
            certainty=Certainty.CERTAIN if certain else Certainty.LIKELY,
            runs=step.node,
        )


def header(ctx: FileContext, node: LoopNode | FunctionNode) -> Span:
    """The first line of a loop, up to its colon; the name of a function."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        text = ctx.source.line(node.lineno)
        at = text.find(node.name, text.find("def", node.col_offset))
        start = ctx.source.line_starts[node.lineno - 1] + at
        return Span(start, start + len(node.name))
    last = node.test if isinstance(node, ast.While) else node.iter
    return Span(ctx.index.span(node).start, ctx.index.span(last).end)
