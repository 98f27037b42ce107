"""Tensors in bfloat16 that become NumPy arrays, which raises."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic.cuda.mixed_precision import Autocast
from tpulint_rules.precision._host_arrays import read_as_arrays, write_float
from tpulint_rules.precision._problems import BFLOAT16, is_off


def check(ctx: FileContext) -> Iterator[Finding]:
    if not ctx.index.mentions("bfloat16"):
        return
    autocasts = [item for item in ctx.index.mixed_precision.autocasts if _is_bfloat16(ctx, item)]
    for tensor, certain in read_as_arrays(ctx, autocasts):
        fix = ctx.fix("Make it float32 first", Applicability.SAFE, "Every number of bfloat16 is one of float32.")
        write_float(ctx, fix, tensor)
        message = "NumPy has no bfloat16: making an array of this tensor raises"
        yield ctx.finding(tensor, message, fix, certainty=Certainty.CERTAIN if certain else Certainty.LIKELY)


def _is_bfloat16(ctx: FileContext, autocast: Autocast) -> bool:
    """Whether an autocast context computes in bfloat16 on an XLA device."""
    arguments = autocast.arguments or {}
    device, dtype = arguments.get("device_type"), arguments.get("dtype")
    if is_off(autocast.call) or dtype is None or ctx.index.qualified_name(dtype) != BFLOAT16:
        return False
    return not (isinstance(device, ast.Constant) and device.value == "cpu")
