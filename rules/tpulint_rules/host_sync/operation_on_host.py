"""Operations that XLA has not: torch_xla copies their tensors to the host, and the results back."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding

_INSTEAD = {
    "bincount": "`F.one_hot(x, count).sum(0)` counts on the device",
    "isin": "`(x[..., None] == values).any(-1)` asks on the device",
    "searchsorted": "`(edges < x[..., None]).sum(-1)` finds the place on the device",
    "bucketize": "`(edges < x[..., None]).sum(-1)` finds the place on the device",
    "histc": "sum a comparison with the edges: `(x[:, None] >= edges).sum(0)`",
    "histogram": "sum a comparison with the edges: `(x[:, None] >= edges).sum(0)`",
    "one_hot": "give `num_classes`: without it the largest class is read on the host",
    "multinomial": "draw one sample, or take the `topk` of `logits + gumbel noise`, where no sample may come twice",
}
_METHODS = frozenset({"bincount", "histc", "multinomial"})


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.loops:
        return
    for call in index.turn_code.nodes(ast.Call):
        found = _operation(ctx, call)
        turn = None if found is None else index.turn_code.turn_of(call)
        if found is None or turn is None or not index.is_device_tensor(found[1]):
            continue
        operation, tensor = found
        yield ctx.finding(
            call,
            f"`{operation}` runs on the host in every {turn}: the graph is cut, and its tensor is transferred",
            certainty=Certainty.CERTAIN if index.value(tensor).certain else Certainty.LIKELY,
            help=_INSTEAD[operation],
        )


def _operation(ctx: FileContext, call: ast.Call) -> tuple[str, ast.expr] | None:
    """Name and tensor of an operation that runs on the host; None for any other call."""
    name = ctx.index.qualified_name(call.func)
    if name is not None:
        head, _, last = name.rpartition(".")
        if head not in ("torch", "torch.nn.functional") or last not in _INSTEAD or not call.args:
            return None
        tensor, rest = call.args[0], call.args[1:]
        if last in ("searchsorted", "bucketize") and rest:
            tensor = rest[0] if last == "searchsorted" else tensor
    elif isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
        last, tensor, rest = call.func.attr, call.func.value, call.args
    else:
        return None
    if last == "one_hot":
        return None if rest or any(k.arg in ("num_classes", None) for k in call.keywords) else (last, tensor)
    if last == "multinomial":
        counts = [*rest[:1], *(k.value for k in call.keywords if k.arg == "num_samples")]
        several = any(isinstance(c, ast.Constant) and isinstance(c.value, int) and c.value > 1 for c in counts)
        return (last, tensor) if several else None
    return last, tensor
