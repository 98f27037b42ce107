"""What a run should start once, started by each of its processes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import FUNCTIONS
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.values.value import is_true

_TRACKERS = {
    "wandb.init": "opens a run of its own",
    "mlflow.start_run": "opens a run of its own",
    "torch.utils.tensorboard.SummaryWriter": "writes events of its own",
    "tensorboardX.SummaryWriter": "writes events of its own",
}
_MEANT = ("group", "mode", "resume", "id", "job_type", "reinit")


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not any(launch.is_xla and launch.starts_processes for launch in index.launches.launches):
        return
    for call in index.calls:
        name = index.qualified_name(call.func) or ""
        effect = _TRACKERS.get(name)
        if effect is not None and any(item.arg in _MEANT or item.arg is None for item in call.keywords):
            continue
        if effect is None and not (name.startswith("torchvision.datasets.") and _downloads(call)):
            continue
        launch = index.launches.launch_of(call)
        if launch is None or not launch.is_xla or not launch.starts_processes or _differs(ctx, call):
            continue
        message = f"every process {effect or 'downloads the same files'}: launched functions run once for each chip"
        yield ctx.finding(call, message, certainty=Certainty.LIKELY)


def _downloads(call: ast.Call) -> bool:
    given = [item.value for item in call.keywords if item.arg == "download"]
    return any(is_true(value) for value in given)


def _differs(ctx: FileContext, call: ast.Call) -> bool:
    """Whether the rank decides if the call runs, or what it is given."""
    ranks = ctx.index.ranks
    given = values_given(call)
    if any(ranks.depends_on_rank(value) or ranks.is_made_from_rank(value) for value in given):
        return True
    for ancestor in ctx.index.tree.ancestors(call):
        if isinstance(ancestor, FUNCTIONS):
            return _returns_early(ctx, ancestor) or not _is_called_by_all(ctx, ancestor)
        if isinstance(ancestor, ast.If | ast.IfExp) and ranks.depends_on_rank(ancestor.test):
            return True
        if isinstance(ancestor, ast.BoolOp) and ranks.depends_on_rank(ancestor):
            return True
    return False


def _returns_early(ctx: FileContext, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether some processes leave the function before its end: ``if rank != 0: return``."""
    return any(
        isinstance(item, ast.If)
        and ctx.index.ranks.depends_on_rank(item.test)
        and isinstance(item.body[-1], ast.Return)
        for item in function.body
    )


def _is_called_by_all(ctx: FileContext, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether every process comes to the function, as far as its callers tell."""
    calls = ctx.index.definitions.calls_of(function)
    return not any(ctx.index.ranks.condition_of(call) is not None for call in calls)
