"""Numbers of an optimizer that change from step to step: kept inputs of the graph, whatever their value.

torch_xla makes a number an input of the graph, but 0, 1 and -1 constants of it. A learning rate that starts at 0, or a
bias correction of Adam that has grown to 1 (after 16,600 steps with a beta of 0.999, after 340 with 0.95), is then
another graph, and that is compiled: amid the training, and as long as the whole step takes. Here such a number is
passed so that XLA computes the same, but torch_xla does not see a constant.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tpulint_runtime.backend import Backend

TINIEST = 2.0**-149
"""The smallest number above 0 that a float32 has. In a product it is 0, on TPUs and on XLA's CPU backend."""
_BELOW_ONE = 1 - 2.0**-53
"""The next number below 1. As a float32 it is 1."""


class Inputs:
    """Numbers as tensors on the device. One that is at its place what it was in the last update, as with a learning
    rate that stays, is not sent again.

    Each is sent with a length of its own. torch_xla 2.9 knows a program again by what is computed from inputs of which
    shapes, not by which of several inputs of one shape stands where (pytorch/xla, issue 8353). Two numbers of one shape
    and four parameters, of which first two, then three use the second number, would be one program for both.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._numbers: list[tuple[float, torch.dtype]] = []
        self._tensors: list[torch.Tensor] = []
        self._place = 0

    def begin(self) -> None:
        """An update begins."""
        self._place = 0

    def tensor(self, number: float, dtype: torch.dtype) -> torch.Tensor:
        """This number, without dimensions, as the next that an update needs. Two that are equal by chance are two
        tensors: one for both would be another graph. Not to be kept beyond the update, which would have to return it.
        """
        place = self._place
        self._place += 1
        if self._numbers[place : place + 1] != [(number, dtype)]:
            self._numbers[place : place + 1] = [(number, dtype)]
            self._tensors[place : place + 1] = self._backend.send([torch.full((place + 1,), number, dtype=dtype)])
        return self._tensors[place][0]


class Varying(float):
    """A number that changes from step to step, or was computed from one.

    As a factor or divisor of a tensor it is sent to the device as a tensor. Where torch takes numbers only (``alpha``,
    ``value``) it is the float64 beside 0 or 1 that as a float32 is just that, or vanishes; see also `Sums`.

    What is computed from it is kept: an optimizer computes the same for each of its parameters, and the next one is
    given the same number, which is the same input of the graph.
    """

    __slots__ = ("_beside", "_computed", "_inputs", "_tensors")
    _beside: float
    _computed: dict[tuple[str, float], Varying]
    _tensors: dict[torch.dtype, torch.Tensor]
    _inputs: Inputs

    def __neg__(self) -> Varying:
        return self._result("0-x", 0)

    def __add__(self, other: float) -> Varying:
        return self._result("x+y", other)

    __radd__ = __add__

    def __sub__(self, other: float) -> Varying:
        return self._result("x-y", other)

    def __rsub__(self, other: float) -> Varying:
        return self._result("y-x", other)

    def __mul__(self, other: float) -> Varying:
        return self._result("x*y", other)

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> Varying:
        return self._result("x/y", other)

    def __rtruediv__(self, other: float) -> Varying:
        return self._result("y/x", other)

    def __pow__(self, other: float, modulo: Any = None) -> Varying:
        return self._result("x**y", other)

    def _result(self, operation: str, other: float) -> Varying:
        # Two that vary and are equal by chance have two results: one for both would be another graph.
        key = (operation, id(other) if type(other) is Varying else other)
        number = self._computed.get(key)
        if number is None:
            if not isinstance(other, _NUMBERS):
                return NotImplemented  # a tensor computes with this number as its factor
            number = vary(_RESULTS[operation](float(self), float(other)), self._inputs)
            number._beside = other  # whose place in memory, the key, must not become another's
            self._computed[key] = number
        return number

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if function in _FACTORS and len(args) == 2 and not kwargs:  # the way of all steps
            tensor, factor = args
            if isinstance(factor, Varying) and tensor.is_xla:
                return function(tensor, factor._tensor(tensor.dtype))
        plain = [value if isinstance(value, torch.Tensor) else _plain(value) for value in args]
        return function(*plain, **{name: _plain(value) for name, value in (kwargs or {}).items()})

    def _tensor(self, beside: torch.dtype) -> torch.Tensor:
        # As the CPU computes, in bfloat16, too. There torch_xla would round a divisor to bfloat16, but no factor.
        dtype = torch.float64 if beside is torch.float64 else torch.float32
        tensor = self._tensors.get(dtype)
        if tensor is None:
            tensor = self._tensors[dtype] = self._inputs.tensor(float(self), dtype)
        return tensor

    def _rounded_tensor(self, beside: torch.dtype) -> torch.Tensor:
        """What the CPU makes of an ``alpha``. Rounded here, for XLA would leave out what it takes for superfluous."""
        if beside in (torch.float32, torch.float64):
            return self._tensor(beside)
        tensor = self._tensors.get(beside)
        if tensor is None:
            rounded = torch.tensor(float(self), dtype=beside).item()
            tensor = self._tensors[beside] = self._inputs.tensor(rounded, torch.float32)
        return tensor


_RESULTS: dict[str, Callable[[float, float], float]] = {
    "0-x": lambda x, y: -x,
    "x+y": operator.add,
    "x-y": operator.sub,
    "y-x": lambda x, y: y - x,
    "x*y": operator.mul,
    "x/y": operator.truediv,
    "y/x": lambda x, y: y / x,
    "x**y": operator.pow,
}
_FACTORS: frozenset[Any] = frozenset(
    getattr(torch.Tensor, name) for name in ("mul", "mul_", "div", "div_", "true_divide", "true_divide_")
)


class Sums(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
    """Sends the scales of sums as tensors, too, as in ``add(term, alpha=scale)`` and ``addcdiv(x, y, value=scale)``.

    Two numbers that are equal in some step are one input of the graph in that step; two tensors never are. The result
    is that of torch_xla to the last bit for float32, that of the CPU for bfloat16.
    """

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if kwargs is None:
            return function(*args)
        if function in _SUMS and len(kwargs) == 1:
            (scale,) = kwargs.values()
            if isinstance(scale, Varying) and args[0].is_xla:
                total, term, *divisor = args
                if divisor:
                    found = torch.addcmul(total, term / divisor[0], scale._tensor(total.dtype))
                else:
                    found = torch.addcmul(total, term, scale._rounded_tensor(total.dtype))
                # Not addcmul_, which takes torch_xla ten times as long.
                return total.copy_(found) if function.__name__.endswith("_") else found.to(total.dtype)
        return function(*args, **kwargs)


_SUMS: frozenset[Any] = frozenset(getattr(torch.Tensor, name) for name in ("add", "add_", "addcdiv", "addcdiv_"))


def _plain(value: Any) -> Any:
    """The number itself, also in a list, as functions for many tensors take them."""
    if isinstance(value, Varying):
        return float(value)
    if isinstance(value, list | tuple) and any(isinstance(item, Varying) for item in value):
        return [_plain(item) for item in value]
    return value


def vary(value: float, inputs: Inputs) -> Varying:
    """This number as one that varies, of a size that torch_xla makes no constant."""
    if abs(value) < TINIEST:
        value = TINIEST if value >= 0 else -TINIEST
    elif abs(value) == 1:
        value *= _BELOW_ONE
    number = Varying(value)
    number._computed = {}
    number._tensors = {}
    number._inputs = inputs
    return number


_NUMBERS = (float, int)
