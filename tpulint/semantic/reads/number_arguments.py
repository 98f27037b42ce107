"""Arguments of torch's operations that have to be Python numbers: a tensor of the device there is read.

Measured on torch_xla 2.9: each reads the device at once, ``hardtanh`` and ``smooth_l1_loss`` twice, ``dropout`` three
times. What takes a tensor as well, ``masked_fill``, ``pow``, ``lerp``, ``div``, ``where``, ``clamp_min`` or a
``clamp`` whose bounds all are tensors, reads nothing.
"""

from __future__ import annotations

import ast

from tpulint.semantic.values.kinds import Kind, Kinds
from tpulint.semantic.values.value import is_none

_BEHIND_TENSOR: dict[str, dict[str, int | None]] = {
    **{name: {"alpha": None, "beta": None} for name in ("add", "sub", "addmm", "addmv", "addr", "baddbmm")},
    "addcmul": {"value": None},
    "addcdiv": {"value": None},
    "fill_": {"value": 0},
    "full_like": {"fill_value": 0},
    "new_full": {"fill_value": 1},
    "normal_": {"mean": 0, "std": 1},
    "uniform_": {"from": 0, "to": 1},
    "nan_to_num": {"nan": 0, "posinf": 1, "neginf": 2},
    "norm": {"p": 0},
    "topk": {"k": 0},
    "kthvalue": {"k": 0},
}
"""Operations of tensors, as functions of torch and as methods: the place of each number behind the tensor, None for
those that only a name gives."""
_FUNCTIONAL: dict[str, dict[str, int | None]] = {
    "pad": {"value": 2},
    "dropout": {"p": 0},
    "dropout2d": {"p": 0},
    "alpha_dropout": {"p": 0},
    "leaky_relu": {"negative_slope": 0},
    "elu": {"alpha": 0},
    "hardtanh": {"min_val": 0, "max_val": 1},
    "threshold": {"threshold": 0, "value": 1},
    "cross_entropy": {"label_smoothing": None},
    "smooth_l1_loss": {"beta": None},
    "huber_loss": {"delta": None},
}
_FUNCTIONS: dict[str, dict[str, int | None]] = {
    "torch.full": {"fill_value": 1},
    "torch.linspace": {"start": 0, "end": 1},
    "torch.nn.utils.clip_grad_norm_": {"max_norm": 1},
    "torch.nn.utils.clip_grad_value_": {"clip_value": 1},
    "torch.nn.init.normal_": {"mean": 1, "std": 2},
    "torch.nn.init.uniform_": {"a": 1, "b": 2},
    "torch.nn.init.constant_": {"val": 1},
}
"""The same of functions by their whole names, with places among all that they are given."""
_BOUNDED = frozenset({"clamp", "clamp_", "clip", "clip_"})


def numbers_asked(call: ast.Call, name: str | None, kinds: Kinds) -> list[ast.expr]:
    """What a call of a function of this name, or else of a method, gives torch where it asks for a number.

    ``torch.full(size, level)`` -> ``level``; ``x.clamp_(0, info[i, 1] - 1)`` -> both bounds.
    """
    if name in _FUNCTIONS:
        return _given(call, _FUNCTIONS[name], 0)
    if name is None and isinstance(call.func, ast.Attribute):
        operation, behind, table = call.func.attr, 0, _BEHIND_TENSOR
        is_of_torch = kinds.value(call.func.value).kind is Kind.TENSOR  # a class may have a method of that name
    elif name is not None:
        library, _, operation = name.rpartition(".")
        behind, table = 1, _BEHIND_TENSOR if library == "torch" else _FUNCTIONAL
        is_of_torch = library in ("torch", "torch.nn.functional")
    else:
        return []
    if operation in _BOUNDED:
        bounds = _given(call, {"min": 0, "max": 1}, behind)
        return bounds if _are_mixed(bounds, kinds) else []
    places = table.get(operation) or table.get(operation.removesuffix("_"))
    return _given(call, places, behind) if places is not None and is_of_torch else []


def _given(call: ast.Call, places: dict[str, int | None], behind: int) -> list[ast.expr]:
    """Arguments at places behind so many others, or by name."""
    given = [keyword.value for keyword in call.keywords if keyword.arg in places]
    found = [at + behind for at in places.values() if at is not None]
    is_plain = not any(isinstance(item, ast.Starred) for item in call.args)
    return [*(call.args[at] for at in found if is_plain and at < len(call.args)), *given]


def _are_mixed(bounds: list[ast.expr], kinds: Kinds) -> bool:
    """Whether one bound is a number and the other is not: two tensors are not read."""
    are_numbers = [kinds.value(bound).kind is Kind.HOST and not is_none(bound) for bound in bounds]
    return len(bounds) == 2 and sum(are_numbers) == 1
