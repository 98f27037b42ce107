"""Batch normalisation over all processes, which torch has for GPUs only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Severity

_CONVERT = "torch.nn.SyncBatchNorm.convert_sync_batchnorm"
_LAYERS = ("torch.nn.SyncBatchNorm", "torch.nn.modules.batchnorm.SyncBatchNorm")
_JOINS = ("torch.distributed.init_process_group", "torch_xla.launch")


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    calls = [*index.calls_to(_CONVERT), *index.calls_to(*_LAYERS)]
    if not calls:
        return
    # Without a process group the layer is a plain one, and nobody needs it.
    joins = next(index.calls_to(*_JOINS), None) is not None
    severity = Severity.ERROR if joins else Severity.WARNING
    certainty = Certainty.CERTAIN if joins else Certainty.LIKELY
    for call in calls:
        message = "`SyncBatchNorm` raises in training on an XLA device as soon as a process group is joined"
        fix = None
        if index.qualified_name(call.func) == _CONVERT:
            fix = _synchronize_on_xla(ctx, call)
        yield ctx.finding(call, message, fix, severity=severity, certainty=certainty)


def _synchronize_on_xla(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """The same statistics by sums over the processes, for the layers of the model as they are."""
    given = [*call.args[:1], *(item.value for item in call.keywords if item.arg == "module")]
    others = [*call.args[1:], *(item.value for item in call.keywords if item.arg != "module")]
    if not given or isinstance(given[0], ast.Starred):
        return None
    if not all(isinstance(item, ast.Constant) and item.value is None for item in others):
        return None  # over the processes of a group alone
    fix = ctx.fix(
        "Normalise over all processes on XLA",
        Applicability.UNSAFE,
        "All processes have to train the model with batches of one shape; layers of derived classes stay plain.",
    )
    function = f"{fix.use('tpulint_runtime', at=call)}.synchronize_batch_norms"
    fix.replace(call, f"{function}({fix.text(given[0])})")
    return fix
