"""What a loop is made of, looked at before it trains: a mistake is told where it was made, and in its words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, TypeAlias

import torch

from tpulint_runtime.backend import Backend
from tpulint_runtime.checkpoint import Checkpoints
from tpulint_runtime.loop.callbacks import Callback, Callbacks
from tpulint_runtime.loop.evaluation import Evaluation
from tpulint_runtime.loop.history import Loggable
from tpulint_runtime.masked import Tally
from tpulint_runtime.settings import kind_of

Loss: TypeAlias = torch.Tensor | Tally
"""A mean without dimensions; or a sum with its count, which is weighted right when batches are not equal."""

_HOOKS = tuple(name for name in vars(Callback) if not name.startswith("_"))


def check_parts(model: Any, optimizer: Any, loss_of: Any, scheduler: Any) -> None:
    """Raises TypeError for what is something else, and ValueError for what does not go together."""
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model is {kind_of(model)}: give a torch.nn.Module")
    if isinstance(optimizer, type) or not all(hasattr(optimizer, name) for name in ("param_groups", "step")):
        raise TypeError(f"optimizer is {kind_of(optimizer)}: give a torch.optim.Optimizer")
    if isinstance(optimizer, torch.optim.LBFGS):
        raise TypeError(
            "optimizer is a LBFGS, which computes the loss again by itself: write a loop of your own for it"
        )
    if not callable(loss_of):
        raise TypeError(f"loss_of is {kind_of(loss_of)}: give a function of the model and a batch")
    _check_scheduler(scheduler, optimizer)
    _check_devices(model, optimizer)


def check_kernels(optimizer: torch.optim.Optimizer, backend: Backend) -> None:
    """Raises ValueError for settings of an optimizer that XLA cannot do."""
    for name in ("fused", "capturable"):
        if backend.counts_work and any(group.get(name) for group in optimizer.param_groups):
            raise ValueError(f"{name}=True is for CUDA: leave it out, XLA compiles the whole update into one program")
    rates = [group.get("lr") for group in optimizer.param_groups]
    if backend.counts_work and any(isinstance(rate, torch.Tensor) and rate.device.type != "cpu" for rate in rates):
        raise ValueError("the learning rate is a tensor on the device, read in every step: give a number")


def checked_clip_norm(given: Any) -> float | None:
    """The norm. Raises TypeError for what is no number, ValueError for one that no norm can be scaled to."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, Real):
        raise TypeError(f"clip_norm is {given!r}: give a number, or None")
    norm = float(given)
    if not norm > 0:  # NaN is not either
        raise ValueError(f"clip_norm is {given}: give more than 0, or None")
    return norm


def checked_callbacks(given: Any) -> Callbacks:
    """The callbacks. Raises TypeError where they are no list, or one is a function, which nothing would call."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"callbacks is {kind_of(given)}: give a list of callbacks")
    callbacks = Callbacks(given)
    for callback in callbacks:
        if isinstance(callback, type):
            raise TypeError(f"callbacks has {kind_of(callback)}: give an instance of it")
        if callable(callback) and not any(hasattr(callback, name) for name in _HOOKS):
            raise TypeError(f"callbacks has {kind_of(callback)}, which would never be called: give hooks, see Callback")
    return callbacks


def check_training(evaluation: Any, checkpoints: Any) -> None:
    """Raises TypeError where they are something else."""
    if evaluation is not None and not isinstance(evaluation, Evaluation):
        raise TypeError(f"evaluation is {kind_of(evaluation)}: give Evaluation(loader, tallies_of)")
    if checkpoints is not None and not isinstance(checkpoints, Checkpoints):
        shown = repr(checkpoints) if isinstance(checkpoints, str) else "path"
        raise TypeError(f"checkpoints is {kind_of(checkpoints)}: give Checkpoints({shown})")


def parts_of(result: Any, devices: frozenset[str]) -> tuple[Loss, Mapping[str, Loggable]]:
    """What ``loss_of`` gave: the loss, and other values. ``devices`` are those of the model.

    Raises TypeError and ValueError for a loss that cannot be trained."""
    loss, others = result if isinstance(result, tuple) and not isinstance(result, Tally) else (result, {})
    if not isinstance(loss, torch.Tensor | Tally):
        raise TypeError(f"loss_of gave {type(loss).__name__} for the loss: return a tensor, or a Tally")
    if not isinstance(others, Mapping):
        raise TypeError(f"loss_of gave {type(others).__name__} beside the loss: return values to log by name")
    if taken := [name for name in ("loss", "lr", "grad_norm") if name in others]:
        raise ValueError(f"{taken[0]} is logged anyway: give the value another name")
    if isinstance(loss, torch.Tensor) and loss.dim():
        raise ValueError(f"the loss has shape {tuple(loss.shape)}: give its mean, or a Tally")
    total = loss.total if isinstance(loss, Tally) else loss
    if devices and total.device.type not in devices:
        where = ", ".join(sorted(devices))
        raise ValueError(f"the loss is on {total.device.type}, the model on {where}: compute it where the model is")
    if not total.requires_grad:
        raise ValueError(
            "the loss has no gradient: it was detached, computed under no_grad, or of nothing that is trained"
        )
    return loss, others


def devices_of(model: torch.nn.Module) -> frozenset[str]:
    """The types of the devices that a model is on; of one without parameters, none."""
    return frozenset(parameter.device.type for parameter in model.parameters())


def parameters_of(optimizer: torch.optim.Optimizer) -> list[torch.nn.Parameter]:
    """The parameters of all groups."""
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def rate_of(optimizer: torch.optim.Optimizer) -> float | None:
    """The learning rate of the first group; None of one that finds its own, as Transformers' Adafactor."""
    rate = optimizer.param_groups[0].get("lr")
    return None if rate is None else float(rate)


def _check_scheduler(scheduler: Any, optimizer: Any) -> None:
    if scheduler is None:
        return
    if isinstance(scheduler, type) or not hasattr(scheduler, "step"):
        raise TypeError(f"scheduler is {kind_of(scheduler)}: give something with step(), or None")
    if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
        raise TypeError(
            "scheduler is a ReduceLROnPlateau, whose step wants a value: call it in a callback, in on_evaluation_end"
        )
    if isinstance(scheduler, torch.optim.lr_scheduler.LRScheduler) and scheduler.optimizer is not optimizer:
        raise ValueError("scheduler is made of another optimizer than the loop has")


def _check_devices(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    devices = devices_of(model)
    strangers = {parameter.device.type for parameter in parameters_of(optimizer)} - devices
    if devices and strangers:
        raise ValueError(
            f"the optimizer has parameters on {', '.join(sorted(strangers))}, the model on {', '.join(sorted(devices))}"
            ": make the optimizer after model.to(device), which on XLA makes new parameters"
        )
