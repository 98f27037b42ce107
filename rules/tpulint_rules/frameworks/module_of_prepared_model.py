"""``net.module`` of a model that Accelerate prepared: on XLA it is wrapped in nothing."""

from __future__ import annotations

import ast
import re

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_ACCELERATOR = ("accelerate.Accelerator", "accelerate.accelerator.Accelerator")
_PREPARES = frozenset({"prepare", "prepare_model"})
_ASKS = re.compile(r"module|isinstance|Parallel|DDP|num_processes|distributed_type|world_size|wrapped")
"""What a condition says that finds out whether a model is wrapped."""
_WRAPS = r"(?i)fsdp|FullyShardedDataParallel"
_SAME = "`unwrap_model` gives the model itself, wrapped or not."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if index.mentions(_WRAPS):
        return  # which wraps on XLA, too
    reads = [node for node in index.tree.attributes_called("module") if isinstance(node.ctx, ast.Load)]
    for node in reads:
        accelerator = _preparer(ctx, node.value)
        if accelerator is None or _is_asked_for(ctx, node):
            continue
        fix = None
        if _is_at_hand(ctx, accelerator, node):
            fix = ctx.fix("Let Accelerate unwrap it", Applicability.SAFE, _SAME)
            fix.replace(node, f"{ctx.text(accelerator)}.unwrap_model({ctx.text(node.value)})")
        message = f"`{ctx.text(node)}` raises: Accelerate wraps a model for several GPUs, and none for XLA"
        yield ctx.finding(node, message, fix)


def _preparer(ctx: FileContext, model: ast.expr) -> ast.expr | None:
    """``accelerator`` of ``net, optimizer = accelerator.prepare(net, optimizer)``, if that alone gives the model."""
    index = ctx.index
    bindings = index.flow.bindings_of(model) if isinstance(model, ast.Name | ast.Attribute) else ()
    made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute) or made.func.attr not in _PREPARES:
        return None
    accelerator = made.func.value
    origins = [one.node for one in index.moves.creations.of(accelerator)]
    is_known = all(isinstance(one, ast.Call) and index.qualified_name(one.func) in _ACCELERATOR for one in origins)
    return accelerator if origins and is_known else None


def _is_asked_for(ctx: FileContext, node: ast.AST) -> bool:
    """Whether a condition, or a ``try``, comes before the read that tells a wrapped model from another."""
    for ancestor in ctx.index.tree.ancestors(node):
        if isinstance(ancestor, ast.If | ast.IfExp) and _ASKS.search(ctx.text(ancestor.test)):
            return True
        if isinstance(ancestor, ast.Try):
            return True
    return False


def _is_at_hand(ctx: FileContext, accelerator: ast.expr, node: ast.expr) -> bool:
    """Whether the accelerator is what it was, where the model is read."""
    if isinstance(accelerator, ast.Name):
        return ctx.index.function_of(accelerator) is ctx.index.function_of(node)
    owners = (ctx.index.tree.class_of(each) for each in (accelerator, node))
    return isinstance(accelerator, ast.Attribute) and len(set(owners)) == 1
