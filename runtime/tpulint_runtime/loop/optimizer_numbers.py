"""What of an optimizer changes from step to step: rates, decays, and what it computes from the number of the step."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import torch

from tpulint_runtime.backend import Backend
from tpulint_runtime.loop.varying import TINIEST, Inputs, Sums, Varying, vary


class _Beta(float):
    """A number that stays, but whose powers are of the number of the step."""

    __slots__ = ("_inputs", "_powers")
    _powers: dict[float, Varying]
    _inputs: Inputs

    def __pow__(self, other: float, modulo: Any = None) -> Varying:
        if not isinstance(other, _NUMBERS):
            return NotImplemented  # a tensor computes its own power, where it is
        power = self._powers.get(other)
        if power is None:
            power = self._powers[other] = vary(float(self) ** other, self._inputs)
        return power


class _Shared:
    """A number of each group of parameters. Groups that had the same in all updates share an input of the graph.

    Others must not, not even while both are 0: sharing in some step is another graph.
    """

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._first_alike: dict[int, int] = {}
        """Of each group the first one that had the same until now."""
        self._made: dict[tuple[int, float, float], tuple[int, Varying]] = {}
        """The numbers of this update, with the first group that has each."""

    def clear(self) -> None:
        """An update begins."""
        self._made.clear()

    def shared(self, group: int, start: float, now: float) -> Varying:
        """The number of this group: ``start`` when it began, ``now`` in this update."""
        key = (self._first_alike.get(group, 0), start, now)
        if key not in self._made:
            self._made[key] = (group, vary(now or (len(self._made) + 1) * TINIEST, self._inputs))
        self._first_alike[group], number = self._made[key]
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
        self._rates, self._decays = _Shared(self._inputs), _Shared(self._inputs)
        self._stack = ExitStack()
        self._given: list[bool] = []
        """Which parameters had a gradient in the update before."""
        self._parted = False

    def __enter__(self) -> None:
        if self._is_inert:
            return
        self._inputs.begin()
        groups = self._optimizer.param_groups
        # It costs time at every call, so not where all parameters have the same numbers.
        if len(groups) > 1 or self._have_parted():
            self._stack.enter_context(Sums())
        self._rates.clear()
        self._decays.clear()
        betas_of: dict[float, _Beta] = {}
        for number, group in enumerate(groups):
            before = {name: group[name] for name in _CHANGED if name in group}
            self._before.append((group, before))
            lr, decay, betas = map(before.get, _CHANGED)
            if isinstance(lr, _NUMBERS) or (isinstance(lr, torch.Tensor) and lr.device.type == "cpu"):
                group["lr"] = self._rates.shared(number, float(group.get("initial_lr", lr)), float(lr))
            if isinstance(decay, _NUMBERS) and (decay or number in self.decays):
                start = self.decays.setdefault(number, decay)
                group["weight_decay"] = self._decays.shared(number, start, decay)
            if betas is not None:
                group["betas"] = tuple(self._beta(betas_of, beta) for beta in betas)

    def __exit__(self, *raised: object) -> None:
        self._stack.close()
        for group, before in self._before:
            group.update(before)
        self._before.clear()

    def _have_parted(self) -> bool:
        """Whether parameters have taken different numbers of steps: one was unfrozen amid the training, or had no
        gradient in some update. While the same ones have gradients, it stays as it is."""
        parameters = [parameter for group in self._optimizer.param_groups for parameter in group["params"]]
        given = [parameter.grad is not None for parameter in parameters]
        if given != self._given:
            self._given = given
            trained = [one for one, has in zip(parameters, given, strict=True) if has]
            steps = [self._optimizer.state.get(one, {}).get("step", 0) for one in trained]
            # Counted on the device they are no numbers, and looking at them would wait for it.
            self._parted = len({float(step) for step in steps if getattr(step, "is_cpu", True)}) > 1
        return self._parted

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
