"""Logarithms of determinants: XLA computes them, and raises when it is asked for their gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Severity
from tpulint.semantic import Kind, Side
from tpulint.semantic.loops.turn_code import STEP

_FUNCTIONS = frozenset({"torch.logdet", "torch.slogdet", "torch.linalg.slogdet"})
_METHODS = frozenset({"logdet", "slogdet"})
_SAME = "The host computes the same; its last digits may differ."


def failing_gradients(ctx: FileContext) -> Iterator[Finding]:
    """``torch.logdet(w)`` in a training step becomes ``torch.logdet(w.cpu()).to(w.device)``: one transfer."""
    index = ctx.index
    called = [*index.calls_to(*_FUNCTIONS), *(call for call, _ in index.method_calls(*_METHODS))]
    for call in called:
        matrix = _matrix(ctx, call)
        if matrix is None or not index.regions.records_gradient(call) or not _is_trained_with(ctx, call):
            continue
        value = index.value(matrix)
        if value.kind is not Kind.TENSOR and index.qualified_name(call.func) is None:
            continue  # `flow.logdet()`: a method of a model
        if value.side is Side.HOST and not isinstance(matrix, ast.Attribute):
            continue  # an attribute that got a tensor of the host is a parameter, which moves with its module
        known = value.side is Side.DEVICE and value.certain
        yield ctx.finding(
            call,
            f"`backward()` raises behind `{ctx.text(call.func)}`: XLA has no gradient of it",
            _on_host(ctx, call, matrix),
            severity=Severity.ERROR,
            certainty=Certainty.CERTAIN if known else Certainty.LIKELY,
        )


def _is_trained_with(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a training step runs the call, or a forward pass in a file that knows of devices does."""
    index = ctx.index
    if index.turn_code.turn_of(call) == STEP:
        return True
    owner, function = index.tree.class_of(call), index.function_of(call)
    known = index.moves.has_device or (index.outside and index.kinds.mentions_device)
    return (
        bool(known)
        and owner is not None
        and function is not None
        and function.name == "forward"
        and index.definitions.is_module_class(owner)
    )


def _matrix(ctx: FileContext, call: ast.Call) -> ast.expr | None:
    name = ctx.index.qualified_name(call.func)
    if name is not None:
        return call.args[0] if name in _FUNCTIONS and len(call.args) == 1 and not call.keywords else None
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS and not call.args
    return call.func.value if is_method and isinstance(call.func, ast.Attribute) else None


def _on_host(ctx: FileContext, call: ast.Call, matrix: ast.expr) -> FixBuilder | None:
    """None where the device of the matrix, or what becomes of the two results, has no short text."""
    if not isinstance(matrix, ast.Name | ast.Attribute):
        return None
    device = f".to({ctx.text(matrix)}.device)"
    fix = ctx.fix("Compute the determinant on the host", Applicability.UNSAFE, _SAME)
    fix.append(matrix, ".cpu()")
    parent = ctx.index.parent(call)
    if ctx.text(call.func).endswith(".logdet"):
        fix.append(call, device)
    elif isinstance(parent, ast.Subscript | ast.Attribute) and parent.value is call:
        fix.append(parent, device)
    elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple):
        moved = ctx.text(call).replace(ctx.text(matrix), f"{ctx.text(matrix)}.cpu()")
        fix = ctx.fix("Compute the determinant on the host", Applicability.UNSAFE, _SAME)
        fix.replace(call, f"(part{device} for part in {moved})")
    else:
        return None
    return fix
