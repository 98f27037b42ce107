"""Whether what an optimizer holds is what is trained.

On XLA ``module.to(device)`` makes new parameters. An optimizer that was built before it holds the old ones: these are
on the CPU, get no gradient and never change, and nothing is raised.
"""

from __future__ import annotations

import zlib
from typing import Any

import torch

_MOST_NUMBERS = 50_000_000
"""Numbers of an optimizer that are compared; parameters beyond are taken to behave like the first ones."""


class Watched:
    """One optimizer."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer = optimizer
        self.steps = 0
        self.with_gradient: set[int] = set()
        """Identities of parameters that had a gradient at some step."""
        self.early: list[int] | None = None
        """Digests of the parameters after the first step."""
        self.early_step = 0
        self.learns = False
        """Whether the learning rate was ever more than 0."""

    def parameters(self) -> list[torch.Tensor]:
        """What it is to train."""
        return parameters_of(self.optimizer)


class Optimizers:
    """All optimizers that stepped, in the order of their first step."""

    def __init__(self) -> None:
        self._watched: dict[int, Watched] = {}

    def has_stepped(self, optimizer: torch.optim.Optimizer) -> bool:
        """Whether it stepped before."""
        return id(optimizer) in self._watched

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer is about to step."""
        watched = self._watched.get(id(optimizer))
        if watched is None:
            watched = self._watched[id(optimizer)] = Watched(optimizer)
        watched.steps += 1
        watched.learns = watched.learns or any(_is_positive(group.get("lr", 1)) for group in optimizer.param_groups)
        watched.with_gradient.update(id(one) for one in watched.parameters() if one.grad is not None)
        if watched.early is None and watched.steps == 1 and _all_on_host(watched):
            watched.early, watched.early_step = _digests(watched), 0

    def wants_look(self) -> bool:
        """Whether a look at parameters is due. They are read just after a step boundary, when nothing is pending."""
        return any(watched.early is None for watched in self._watched.values())

    def look(self) -> None:
        """Note the values after the first step."""
        for watched in self._watched.values():
            if watched.early is None:
                watched.early, watched.early_step = [], watched.steps  # should it fail, once is enough
                watched.early = _digests(watched)

    def numbers(self) -> int:
        """Numbers in all parameters, each counted once."""
        held = {id(one): one.numel() for watched in self._watched.values() for one in watched.parameters()}
        return sum(held.values())

    def describe(self) -> list[dict[str, Any]]:
        """Everything known at the end. Reads the parameters."""
        return [_describe(watched) for watched in self._watched.values()]


def parameters_of(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """What an optimizer is to train."""
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _describe(watched: Watched) -> dict[str, Any]:
    parameters = watched.parameters()
    changed = None
    if watched.early is not None and watched.steps > watched.early_step and watched.learns:
        changed = sum(before != now for before, now in zip(watched.early, _digests(watched), strict=False))
    compared = len(watched.early or ())
    return {
        "kind": type(watched.optimizer).__name__,
        "steps": watched.steps,
        "parameters": len(parameters),
        "numbers": sum(parameter.numel() for parameter in parameters),
        "devices": sorted({parameter.device.type for parameter in parameters}),
        "with_gradient": sum(id(parameter) in watched.with_gradient for parameter in parameters),
        "compared": compared,
        "changed": changed,
        "checksum": sum(float(parameter.detach().to("cpu").double().abs().sum()) for parameter in parameters),
    }


def _is_positive(rate: Any) -> bool:
    """Without reading a rate that lives on a device."""
    return not isinstance(rate, int | float) or rate > 0


def _all_on_host(watched: Watched) -> bool:
    return all(parameter.device.type == "cpu" for parameter in watched.parameters())


def _digests(watched: Watched) -> list[int]:
    digests = []
    left = _MOST_NUMBERS
    for parameter in watched.parameters():
        left -= parameter.numel()
        if left < 0:
            break
        values = parameter.detach().to("cpu").contiguous().view(-1).view(torch.uint8)
        digests.append(zlib.crc32(values.numpy().data))
    return digests
