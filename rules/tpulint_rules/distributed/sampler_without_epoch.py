"""A distributed sampler that is never told which epoch it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope
from tpulint.semantic import LoopNode
from tpulint.semantic.loaders import Loader
from tpulint_rules.distributed._samplers import SAMPLERS

_TOLD = r"set_epoch|set_state|lightning|accelerat|Trainer\("


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if index.mentions(_TOLD):
        return
    for call in index.calls_to(*SAMPLERS):
        shuffles = [*(item.value for item in call.keywords if item.arg in ("shuffle", None)), *call.args[3:4]]
        if shuffles and not (isinstance(shuffles[0], ast.Constant) and shuffles[0].value is True):
            continue
        loaders = [loader for loader in index.loaders.all if loader.feeds and _takes(ctx, loader, call)]
        epochs = [found for loader in loaders for loop in loader.loops if (found := _epochs(ctx, loop)) is not None]
        if epochs:
            fix = _fix(ctx, call, epochs)
            yield ctx.finding(call, "no epoch is told to the sampler: it shuffles every one alike", fix)


def _takes(ctx: FileContext, loader: Loader, sampler: ast.Call) -> bool:
    """Whether a loader draws by a sampler."""
    given = (loader.arguments or {}).get("sampler", [])
    return any(sampler is made.node for value in given for made in ctx.index.moves.creations.of(value))


def _epochs(ctx: FileContext, loop: LoopNode) -> LoopNode | None:
    """The loop over epochs around a step loop, in its function or in one that calls it."""
    for _, place in ctx.index.moves.places(loop):
        outer = ctx.index.tree.loop_of(place)
        if outer is not None:
            return outer
    return None


def _fix(ctx: FileContext, call: ast.Call, epochs: list[LoopNode]) -> FixBuilder | None:
    """``sampler.set_epoch(epoch)`` where an epoch begins; None where it has no number, or the sampler no name."""
    index, loop = ctx.index, epochs[0]
    statement = index.statement_of(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is call else None
    if not isinstance(target, ast.Name) or len(index.names.bindings(target)) != 1 or len(set(epochs)) > 1:
        return None
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name) or not isinstance(loop.iter, ast.Call):
        return None
    if index.qualified_name(loop.iter.func) != "builtins.range":
        return None
    if index.function_of(loop) is not index.function_of(call) or not _always_runs(ctx, statement, loop):
        return None
    reason = "From the second epoch on the samples come in another order."
    fix = ctx.fix("Tell the sampler of each epoch", Applicability.UNSAFE, reason, Scope.LOOP)
    fix.insert_before(loop.body[0], f"{target.id}.set_epoch({loop.target.id})")
    return fix


def _always_runs(ctx: FileContext, statement: ast.stmt, loop: LoopNode) -> bool:
    """Whether the sampler is made on the way to every run of the loop: in the block of the loop, or around it."""
    holders = [item for item in (loop, *ctx.index.tree.ancestors(loop)) if isinstance(item, ast.stmt)]
    return any(statement in ctx.index.tree.suite_of(item) for item in holders)
