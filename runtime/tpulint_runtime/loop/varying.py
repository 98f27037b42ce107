"""Numbers of an optimizer that change from step to step: kept inputs of the graph, whatever their value.

torch_xla makes a number an input of the graph, but 0, 1 and -1 constants of it. A learning rate that starts at 0, or a
bias correction of Adam that has grown to 1 (after 16,600 steps with a beta of 0.999, after 340 with 0.95), is then
another graph, and that is compiled: amid the training, and as long as the whole step takes. Here such a number is
passed so that XLA computes the same, but torch_xla does not see a constant.
"""

from __future__ import annotations

from typing import Any

import torch

from tpulint_runtime.backend import Backend

_TINIEST = 2.0**-149
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
    ``value``) it is the float64 beside 0 or 1 that as a float32 is just that, or vanishes.

    What is computed from it is kept: an optimizer computes the same for each of its parameters, and the next one is
    given the same number, which is the same input of the graph.
    """

    __slots__ = ("_computed", "_inputs", "_tensors")
    _computed: dict[tuple[str, float], Varying]
    _tensors: dict[torch.dtype, torch.Tensor]
    _inputs: Inputs

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
        number = self._computed[operation, other] = _made(result, self._inputs)
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


_FACTORS: frozenset[Any] = frozenset(
    getattr(torch.Tensor, name) for name in ("mul", "mul_", "div", "div_", "true_divide", "true_divide_")
)


class _Beta(float):
    """A number that stays, but whose powers are of the number of the step."""

    __slots__ = ("_inputs", "_powers")
    _powers: dict[float, Varying]
    _inputs: Inputs

    def __pow__(self, other: float, modulo: Any = None) -> Varying:
        power = self._powers.get(other)
        if power is None:
            power = self._powers[other] = _made(float(self) ** other, self._inputs)
        return power


def _plain(value: Any) -> Any:
    """The number itself, also in a list, as functions for many tensors take them."""
    if isinstance(value, Varying):
        return float(value)
    if isinstance(value, list | tuple) and any(isinstance(item, Varying) for item in value):
        return [_plain(item) for item in value]
    return value


def _made(value: float, inputs: Inputs) -> Varying:
    if abs(value) < _TINIEST:
        value = _TINIEST if value >= 0 else -_TINIEST
    elif abs(value) == 1:
        value *= _BELOW_ONE
    number = Varying(value)
    number._computed = {}
    number._tensors = {}
    number._inputs = inputs
    return number


class VaryingNumbers:
    """The changing numbers of an optimizer.

    Inside of ``with``, ``optimizer.step()`` keeps its learning rates and weight decays, and what it computes from them
    and from the number of the step, inputs of the graph. Updates are the same. Does nothing where there are no graphs.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, backend: Backend) -> None:
        self.decays: dict[int, float] = {}
        """The first weight decay above 0 of each group, by its number. A group that never had one is left without: it
        computes nothing for it."""
        self._optimizer = optimizer
        self._is_inert = not backend.counts_work
        self._inputs = Inputs(backend)
        self._before: list[tuple[dict[str, Any], dict[str, Any]]] = []
        """Groups, and what they had when the update began."""

    def __enter__(self) -> None:
        if self._is_inert:
            return
        self._inputs.begin()
        numbers: dict[tuple[str, float, float], Varying] = {}
        betas_of: dict[float, _Beta] = {}
        for number, group in enumerate(self._optimizer.param_groups):
            before = {name: group[name] for name in _CHANGED if name in group}
            self._before.append((group, before))
            lr, decay, betas = map(before.get, _CHANGED)
            if isinstance(lr, _NUMBERS) or (isinstance(lr, torch.Tensor) and lr.device.type == "cpu"):
                group["lr"] = self._vary(numbers, "lr", float(group.get("initial_lr", lr)), float(lr))
            if isinstance(decay, _NUMBERS) and (decay or number in self.decays):
                start = self.decays.setdefault(number, decay)
                group["weight_decay"] = self._vary(numbers, "weight_decay", start, decay)
            if betas is not None:
                group["betas"] = tuple(self._beta(betas_of, beta) for beta in betas)

    def __exit__(self, *raised: object) -> None:
        for group, before in self._before:
            group.update(before)
        self._before.clear()

    def _vary(self, numbers: dict[tuple[str, float, float], Varying], name: str, start: float, now: float) -> Varying:
        # Groups with the same schedule share an input of the graph. Others must not, not even while both are 0.
        key = (name, start, now)
        if key not in numbers:
            numbers[key] = _made(now or (len(numbers) + 1) * _TINIEST, self._inputs)
        return numbers[key]

    def _beta(self, known: dict[float, _Beta], beta: Any) -> Any:
        if not isinstance(beta, float):
            return beta
        if beta not in known:
            known[beta] = _Beta(beta)
            known[beta]._powers = {}
            known[beta]._inputs = self._inputs
        return known[beta]


_CHANGED = ("lr", "weight_decay", "betas")
"""What of a group is exchanged for the time of an update."""
_NUMBERS = (float, int)
