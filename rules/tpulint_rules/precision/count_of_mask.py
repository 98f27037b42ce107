"""Counting the true elements of a mask by ``count_nonzero``, which counts in the dtype of the mask."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding

_SAME = "A sum of a mask is the number of its true elements, in int64, on every device."


def check(ctx: FileContext) -> Iterator[Finding]:
    """``(output == target).count_nonzero()`` on the device."""
    index = ctx.index
    calls = [(call, receiver, call.args) for call, receiver in index.method_calls("count_nonzero")]
    calls += [(call, call.args[0], call.args[1:]) for call in index.calls_to("torch.count_nonzero") if call.args]
    for call, mask, _ in calls:
        if not index.is_device_tensor(mask) or not (isinstance(mask, ast.Compare) or index.masks.is_mask(mask)):
            continue
        certain = index.value(mask).certain
        fix = ctx.fix("Sum the mask", Applicability.SAFE if certain else Applicability.UNSAFE, _SAME)
        if isinstance(call.func, ast.Attribute) and mask is call.func.value:
            fix.rename_callee(call, f"{fix.text(mask)}.sum")
        else:
            fix.rename_callee(call, f"{fix.use('torch', at=call)}.sum")
        yield ctx.finding(
            call,
            f"`{ctx.text(call)}` counts in the dtype of the mask on an XLA device: "
            "however many elements are true, it is at most 1",
            fix,
            certainty=Certainty.CERTAIN if certain else Certainty.LIKELY,
        )
