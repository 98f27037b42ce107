"""Averages over windows that end behind the image: where padding is counted, their gradient has no program for XLA."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability

_DIMENSIONS = (1, 2, 3)
_OPTIONS = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")
POOLS = {f"torch.nn.functional.avg_pool{at}d": ("input", *_OPTIONS) for at in _DIMENSIONS}
"""Functions, with their parameters."""
POOL_LAYERS = {f"torch.nn.AvgPool{at}d": _OPTIONS for at in _DIMENSIONS}
"""Modules, with what they are made of."""
_COUNTED, _DIVISOR = "count_include_pad", "divisor_override"
_NOTHING_PADDED = "Nothing is padded: the same elements are counted, and the same values come out."


def has_pooled_gradient_on_host(call: ast.Call, name: str) -> bool:
    """Whether the gradient of an average, or of what a layer is made for, is computed on the host.

    It is so where a window may end behind the image and padding is counted, and where a divisor is given.
    """
    given = _given(call, name)
    if given is None:
        return False
    divisor, counted = given.get(_DIVISOR), given.get(_COUNTED)
    if isinstance(divisor, ast.Constant) and divisor.value is not None:
        return True
    ends_behind = "ceil_mode" in given and _is(given["ceil_mode"], True)
    return ends_behind and (counted is None or _is(counted, True))


def count_no_padding(ctx: FileContext, call: ast.Call, name: str) -> FixBuilder | None:
    """``count_include_pad=False``, which the device has a gradient of, where there is no padding."""
    given = _given(call, name)
    if given is None or _DIVISOR in given or not _is_nothing(given.get("padding")):
        return None
    fix = ctx.fix("Count no padding", Applicability.SAFE, _NOTHING_PADDED)
    counted = given.get(_COUNTED)
    if counted is None:
        fix.set_argument(call, _COUNTED, "False")
    else:
        fix.replace(counted, "False")
    return fix


def _given(call: ast.Call, name: str) -> dict[str, ast.expr] | None:
    """What a call gives, by parameter; None where nobody knows."""
    parameters = {**POOLS, **POOL_LAYERS}.get(name)
    if parameters is None or any(isinstance(item, ast.Starred) for item in call.args):
        return None
    if any(item.arg is None for item in call.keywords):
        return None
    return {
        **dict(zip(parameters, call.args, strict=False)),
        **{item.arg: item.value for item in call.keywords if item.arg is not None},
    }


def _is(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _is_nothing(padding: ast.expr | None) -> bool:
    """Whether nothing is padded: ``0``, ``(0, 0)``, or not said."""
    parts = padding.elts if isinstance(padding, ast.Tuple | ast.List) else [] if padding is None else [padding]
    return all(isinstance(part, ast.Constant) and type(part.value) is int and part.value == 0 for part in parts)
