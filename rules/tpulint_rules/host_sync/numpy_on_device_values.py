"""NumPy arithmetic on copies of device tensors, in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity
from tpulint.semantic import Read, SemanticIndex
from tpulint.semantic.reads.host_arithmetic import FUNCTIONS_OF_TORCH, TYPES, HostArrays, copying_tail, without_copying
from tpulint_rules.host_sync._device_values import torch_text

REASON = "The arithmetic is done by torch in the dtypes of the tensors, where NumPy did it, in part in float64."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every copy of a tensor that NumPy computes one number of."""
    index = ctx.index
    for loop in (*(loop.node for loop in index.step_loops), *index.regions.evaluation_loops):
        arrays = index.host_arithmetic.of(loop)
        if arrays is None:
            continue
        fix = ctx.fix("Compute it on the device", Applicability.UNSAFE, REASON, Scope.LOOP)
        compute_on_device(fix, index, arrays)
        is_evaluation = loop in index.regions.evaluation_loops
        for read in arrays.copies:
            does = "NumPy computes a number" if ".numpy()" in ctx.text(read.node) else "a number is computed"
            yield ctx.finding(
                read.node,
                f"`{short(ctx.text(read.tensor))}` is copied to the host in every "
                f"{'evaluation batch' if is_evaluation else 'step'}, where {does} of it",
                fix,
                severity=Severity.WARNING if is_evaluation else Severity.ERROR,
                certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
            )


def compute_on_device(fix: FixBuilder, index: SemanticIndex, arrays: HostArrays) -> None:
    """The tensors instead of their copies, torch's functions instead of NumPy's, and a read of each number."""
    for read in arrays.copies:
        _keep(fix, index, read)
    for call in arrays.calls:
        _compute(fix, index, call)
    for number in arrays.numbers:
        parent = index.parent(number)
        casts = isinstance(parent, ast.Call) and index.qualified_name(parent.func) in ("builtins.float", "builtins.int")
        if not casts:
            fix.append(number, ".item()")


def _keep(fix: FixBuilder, index: SemanticIndex, read: Read) -> None:
    """The tensor with what was done to it but for the copying."""
    fix.replace_tail(read.node, read.tensor, without_copying(copying_tail(index, read)))


def _compute(fix: FixBuilder, index: SemanticIndex, call: ast.Call) -> None:
    for keyword in call.keywords:
        start = index.span(keyword).start
        fix.replace(index.span(keyword)._replace(end=start + len("axis")), "dim")
    name = index.qualified_name(call.func)
    if name in FUNCTIONS_OF_TORCH:
        what = FUNCTIONS_OF_TORCH[name]
        fix.rename_callee(call, f"{torch_text(fix, index, call)}.{what}")
        if what == "mean":
            fix.append(call.args[0], ".float()")  # of booleans and integers torch gives no mean
        return
    assert isinstance(call.func, ast.Attribute)
    if call.func.attr == "mean":
        fix.replace_tail(call.func, call.func.value, ".float().mean")
    elif call.func.attr == "astype":
        fix.replace_tail(call, call.func.value, f".{TYPES[index.qualified_name(call.args[0]) or '']}()")
