"""The state of an optimizer, made before the first step: else the second step is another graph than the first."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from tpulint_runtime.backend import Backend


def make_state(optimizer: torch.optim.Optimizer, backend: Backend) -> None:
    """Gives every trained parameter the state it would get in its first step: moments of 0, and no step counted.

    The state lies on the device then, where on XLA the first step would else have it as constants and the second as
    inputs. Parameters that have a state keep it, frozen ones get none. Nothing is computed on the device, and what the
    optimizer computes is the same as without.

    Knows the optimizers of torch. Others, and SGD with dampening, whose first step is another than all later ones,
    stay as they are. Does nothing where there are no graphs."""
    if not backend.counts_work:
        return
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if not parameter.requires_grad:
                continue
            if parameter not in optimizer.state or not optimizer.state[parameter]:
                fresh = _fresh(optimizer, group, parameter)
            elif isinstance(optimizer, torch.optim.Adagrad) and optimizer.state[parameter]["step"] == 0:
                # Made by its constructor, but on the device: pending, and so a graph of its own.
                initial = group["initial_accumulator_value"]
                fresh = {"sum": torch.full_like(parameter, initial, device="cpu")}
            else:
                continue
            if fresh:
                optimizer.state[parameter].update(_sent(fresh, group, backend))


def _fresh(optimizer: torch.optim.Optimizer, group: dict[str, Any], parameter: torch.nn.Parameter) -> dict[str, Any]:
    """The state before the first step, on the host; empty for an optimizer that has none, or is not known."""
    if isinstance(optimizer, torch.optim.SGD):
        has_buffer = group["momentum"] != 0 and group["dampening"] == 0
        return {"momentum_buffer": torch.zeros_like(parameter, device="cpu")} if has_buffer else {}
    begin = getattr(optimizer, "_init_group", None)  # what every optimizer of torch begins its step with
    if begin is None or not type(optimizer).__module__.startswith("torch.optim"):
        return {}
    # A stand-in on the host, and as its gradient itself: neither is looked at, but for its shape.
    stand_in = torch.nn.Parameter(torch.empty_like(parameter, device="cpu"))
    stand_in.grad = stand_in.detach()
    lists = len(inspect.signature(begin).parameters) - 1
    begin({**group, "params": [stand_in]}, *([] for _ in range(lists)))
    state: dict[str, Any] = optimizer.state.pop(stand_in, {})
    return state


def _sent(state: dict[str, Any], group: dict[str, Any], backend: Backend) -> dict[str, Any]:
    """On the device, but for the numbers that the optimizer keeps on the host."""
    keeps_numbers = not (group.get("capturable") or group.get("fused"))
    stays = [
        not isinstance(value, torch.Tensor) or (value.dim() == 0 and keeps_numbers and name in _NUMBERS)
        for name, value in state.items()
    ]
    moved = iter(backend.send([value for value, stay in zip(state.values(), stays, strict=True) if not stay]))
    return {name: value if stay else next(moved) for (name, value), stay in zip(state.items(), stays, strict=True)}


_NUMBERS = frozenset({"step", "mu_product", "eta", "mu"})
