"""Numbers of an optimizer that change from step to step: kept inputs of the graph, whatever their value.

torch_xla makes a number an input of the graph, but 0, 1 and -1 constants of it. A learning rate that starts at 0, or a
bias correction of Adam that has grown to 1 (after 16,600 steps with a beta of 0.999, after 340 with 0.95), is then
another graph, and that is compiled: amid the training, and as long as the whole step takes. Here such a number is
passed so that XLA computes the same, but torch_xla does not see a constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from tpulint_runtime.backend import Backend

_TINIEST = 2.0**-149
"""The smallest number above 0 that a float32 has. In a product it is 0, on TPUs and on XLA's CPU backend."""
_BELOW_ONE = 1 - 2.0**-53
"""The next number below 1. As a float32 it is 1."""


class Varying(float):
    """A number that changes from step to step, or was computed from one.

    As a factor or divisor of a tensor it is sent to the device as a tensor. Where torch takes numbers only (``alpha``,
    ``value``) it is the float64 beside 0 or 1 that as a float32 is just that, or vanishes.

    What is computed from it is kept: an optimizer computes the same for each of its parameters, and the next one is
    given the same number, which is the same input of the graph.
    """

    __slots__ = ("_computed", "_tensors")
    _computed: dict[tuple[str, float], Varying]
    _tensors: dict[torch.dtype, torch.Tensor]
    backend: Backend

    def __neg__(self) -> Varying:
        return self._computed.get(("-", 0)) or self._keep("-", 0, -float(self))

    def __add__(self, other: float) -> Varying:
        return self._computed.get(("+", other)) or self._keep("+", other, float(self) + other)

    __radd__ = __add__

    def __sub__(self, other: float) -> Varying:
        return self._computed.get(("x-", other)) or self._keep("x-", other, float(self) - other)

    def __rsub__(self, other: float) -> Varying:
        return self._computed.get(("-x", other)) or self._keep("-x", other, other - float(self))

    def __mul__(self, other: float) -> Varying:
        return self._computed.get(("*", other)) or self._keep("*", other, float(self) * other)

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> Varying:
        return self._computed.get(("x/", other)) or self._keep("x/", other, float(self) / other)

    def __rtruediv__(self, other: float) -> Varying:
        return self._computed.get(("/x", other)) or self._keep("/x", other, other / float(self))

    def __pow__(self, other: float, modulo: Any = None) -> Varying:
        return self._computed.get(("**", other)) or self._keep("**", other, float(self) ** other)

    def _keep(self, operation: str, other: float, result: float) -> Varying:
        if not isinstance(result, float):
            return result  # of a tensor
        number = self._computed[operation, other] = _made(result)
        return number

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if function in _FACTORS and len(args) == 2 and not kwargs:  # the way of all steps
            tensor, factor = args
            if isinstance(factor, Varying) and tensor.is_xla:
                return function(tensor, factor._tensor(tensor.dtype))
        return function(*map(_plain, args), **{name: _plain(value) for name, value in (kwargs or {}).items()})

    def _tensor(self, beside: torch.dtype) -> torch.Tensor:
        # What torch_xla makes of a number beside a tensor of that dtype, in bfloat16, too.
        dtype = torch.float64 if beside is torch.float64 else torch.float32
        tensor = self._tensors.get(dtype)
        if tensor is None:
            (tensor,) = self.backend.send([torch.tensor(float(self), dtype=dtype)])
            self._tensors[dtype] = tensor
        return tensor


_FACTORS: frozenset[Any] = frozenset(
    getattr(torch.Tensor, name) for name in ("mul", "mul_", "div", "div_", "true_divide", "true_divide_")
)


class _Beta(float):
    """A number that stays, but whose powers are of the number of the step."""

    __slots__ = ("_powers",)
    _powers: dict[float, Varying]

    def __pow__(self, other: float, modulo: Any = None) -> Varying:
        power = self._powers.get(other)
        if power is None:
            power = self._powers[other] = _made(float(self) ** other)
        return power


def _plain(value: Any) -> Any:
    """The number itself, also in a list, as functions for many tensors take them."""
    if isinstance(value, Varying):
        return float(value)
    if isinstance(value, list | tuple) and any(isinstance(item, Varying) for item in value):
        return [_plain(item) for item in value]
    return value


def _made(value: float) -> Varying:
    if abs(value) < _TINIEST:
        value = _TINIEST if value >= 0 else -_TINIEST
    elif abs(value) == 1:
        value *= _BELOW_ONE
    number = Varying(value)
    number._computed = {}
    number._tensors = {}
    return number


@contextmanager
def varying(optimizer: torch.optim.Optimizer, backend: Backend, decays: dict[int, float]) -> Iterator[None]:
    """Inside, ``optimizer.step()`` keeps its learning rates and weight decays, and what it computes from them and from
    the number of the step, inputs of the graph. Updates are the same. Does nothing where there are no graphs.

    decays
        The first weight decay above 0 of each group, by its number; filled here, for the next step. A group that never
        had one is left without: it computes nothing for it."""
    if not backend.counts_work:
        yield
        return
    Varying.backend = backend
    before = [{name: group[name] for name in _CHANGED if name in group} for group in optimizer.param_groups]
    numbers: dict[tuple[str, float, float], Varying] = {}
    betas_of: dict[float, _Beta] = {}

    def vary(name: str, start: float, now: float) -> Varying:
        # Groups with the same schedule share an input of the graph. Others must not, not even while both are 0.
        if (name, start, now) not in numbers:
            numbers[name, start, now] = _made(now or (len(numbers) + 1) * _TINIEST)
        return numbers[name, start, now]

    try:
        for number, group in enumerate(optimizer.param_groups):
            lr, decay, betas = (group.get(name) for name in _CHANGED)
            if isinstance(lr, float | int) or (isinstance(lr, torch.Tensor) and lr.device.type == "cpu"):
                group["lr"] = vary("lr", float(group.get("initial_lr", lr)), float(lr))
            if isinstance(decay, float | int) and (decay or number in decays):
                group["weight_decay"] = vary("weight_decay", decays.setdefault(number, decay), decay)
            if betas is not None:
                group["betas"] = tuple(_power_of(beta, betas_of) if isinstance(beta, float) else beta for beta in betas)
        yield
    finally:
        for group, values in zip(optimizer.param_groups, before, strict=True):
            group.update(values)


_CHANGED = ("lr", "weight_decay", "betas")
"""What of a group is exchanged for the time of an update."""


def _power_of(beta: float, known: dict[float, _Beta]) -> _Beta:
    if beta not in known:
        known[beta] = _Beta(beta)
        known[beta]._powers = {}
    return known[beta]
