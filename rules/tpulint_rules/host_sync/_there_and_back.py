"""Tensors that go over the host and back: ``x.type(torch.FloatTensor).to(device)``, or element by element."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import Read
from tpulint.semantic.syntax.torch_facts import CUDA_TENSOR_TYPES
from tpulint_rules.host_sync._gathered_elements import gathered

_SAME = "The same values of the same dtype, without the way over the host."
_BACK = frozenset({"to", "cuda"})


def there_and_back(ctx: FileContext, read: Read) -> FixBuilder | None:
    """What gives the same without the host, where what it makes is moved to the device at once."""
    return gathered(ctx, read) or _cast(ctx, read)


def _cast(ctx: FileContext, read: Read) -> FixBuilder | None:
    """``x.type(torch.float32).to(device)``"""
    call = _called_on(ctx, read.tensor)
    asked = call.args[0] if call is not None and len(call.args) == 1 else None
    back = None if call is None else _called_on(ctx, call)
    if call is None or asked is None or back is None or not ctx.index.kinds.sides.is_host_class(asked):
        return None
    if not isinstance(back.func, ast.Attribute) or back.func.attr not in _BACK or not ctx.index.is_device_tensor(back):
        return None
    name = str(asked.value) if isinstance(asked, ast.Constant) else ctx.index.qualified_name(asked) or ""
    fix = ctx.fix(
        "Change the dtype on the device", Applicability.SAFE if read.certain else Applicability.UNSAFE, _SAME,
        Scope.EXPRESSION,
    )  # fmt: skip
    fix.replace(asked, f"{fix.use('torch', at=asked)}.{CUDA_TENSOR_TYPES[name.rpartition('.')[2]]}")
    return fix


def _called_on(ctx: FileContext, node: ast.expr) -> ast.Call | None:
    """The call of a method of what an expression gives."""
    attribute = ctx.index.parent(node)
    call = ctx.index.parent(attribute) if isinstance(attribute, ast.Attribute) else None
    return call if isinstance(call, ast.Call) and call.func is attribute else None
