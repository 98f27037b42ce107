"""A scheduler that reads the loss, in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import Pace

_PLATEAU = "torch.optim.lr_scheduler.ReduceLROnPlateau"


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for call, receiver in index.method_calls("step"):
        metrics = [*call.args[:1], *(item.value for item in call.keywords if item.arg == "metrics")]
        if not metrics or index.pace_of(call) is not Pace.STEP or not index.is_device_tensor(metrics[0]):
            continue
        made = [creation.node for creation in index.moves.creations.of(receiver)]
        if made and all(isinstance(node, ast.Call) and index.qualified_name(node.func) == _PLATEAU for node in made):
            yield ctx.finding(
                call,
                f"the scheduler reads `{ctx.text(metrics[0])}` in every step: the host waits for the device",
                certainty=Certainty.CERTAIN if index.value(metrics[0]).certain else Certainty.LIKELY,
            )
