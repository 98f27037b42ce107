"""What processes that train together tell each other: gradients, sums, and the parameters they start with.

All of it is called in all processes, in the same order: it is part of their graphs. With one process, and under a
:class:`Mesh`, where XLA puts these sums in by itself, nothing is done.
"""

from __future__ import annotations

import weakref

import torch

from tpulint_runtime import backend

_averaged: weakref.WeakKeyDictionary[torch.optim.Optimizer, list[weakref.ref[torch.Tensor]]]
_averaged = weakref.WeakKeyDictionary()
"""The gradients that are averages already, until the step of their optimizer."""


def reduce_gradients(optimizer: torch.optim.Optimizer) -> None:
    """Puts the mean over all processes into the gradients of the parameters of ``optimizer``: once for each update,
    behind the last ``backward`` of it, before clipping and ``optimizer.step()``.

    .. code-block:: python

        (loss / turns).backward()       # as often as gradients are accumulated
        ...
        reduce_gradients(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    One collective: of all gradients together on XLA, where it is part of the graph of the step. Gradients keep their
    shapes, dtypes and memory. Parameters without a gradient are left out: those are to be the same in all processes.
    Not for a model in ``DistributedDataParallel``, which averages by itself, nor together with ``xm.optimizer_step``.

    Gradients that were clipped or scaled before stay so, in every process by its own norm, which is rarely meant.

    Raises RuntimeError if gradients were averaged since the last step, and not cleared: in every turn of an
    accumulation, for example. It is told with one process, too. After an update that was skipped, clear gradients with
    ``zero_grad()``, which sets them to None. Raises TypeError for what is no optimizer, and for sparse gradients.
    """
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"reduce_gradients takes an optimizer, not {type(optimizer).__name__}")
    gradients = _gradients(optimizer)
    if optimizer not in _averaged:
        _averaged[optimizer] = []
        optimizer.register_step_post_hook(_forget)
    done = {id(gradient) for gradient in (known() for known in _averaged[optimizer]) if gradient is not None}
    if any(id(gradient) in done for gradient in gradients):
        raise RuntimeError(
            "these gradients were averaged over the processes before: reduce them once for each update, behind its "
            "last backward; before another backward without optimizer.step(), call zero_grad()"
        )
    if not gradients:
        return
    current = backend.current(gradients[0])
    with torch.no_grad():
        current.add_up(gradients, 1.0 / current.place().processes)
    _averaged[optimizer] = [weakref.ref(gradient) for gradient in gradients]


def sum_over_processes(tensor: torch.Tensor) -> torch.Tensor:
    """The sum of ``tensor`` over all processes, in its shape and dtype, on its device and without gradient. The tensor
    itself is not changed. Shapes are to be the same in all processes.

    Means are not added up, but what they are made of:

    .. code-block:: python

        total, count = sum_over_processes(loss.total), sum_over_processes(loss.count)   # of a RunningMean
        print_once("loss", (total / count).squeeze())
    """
    summed = tensor.detach().clone()
    with torch.no_grad():
        backend.current(summed).add_up([summed], 1.0)
    return summed


def broadcast_parameters(module: torch.nn.Module) -> None:
    """Gives parameters and buffers of ``module`` the values they have in the first process: before the first step,
    where processes have seeds of their own. Shapes and dtypes are to be the same in all of them. Ends the step.

    What :meth:`Checkpoints.resume` loads is the same everywhere already.
    """
    tensors = [*module.parameters(), *module.buffers()]
    if tensors:
        current = backend.current(tensors[0])
        with torch.no_grad():
            current.copy_first(tensors)
        current.sync()


def _gradients(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """Each once, in the order of the parameters."""
    found: dict[int, torch.Tensor] = {}
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            gradient = parameter.grad
            if gradient is None:
                continue
            if gradient.layout != torch.strided:
                raise TypeError("sparse gradients cannot be averaged: build the embedding with sparse=False")
            found[id(gradient)] = gradient
    return list(found.values())


def _forget(optimizer: torch.optim.Optimizer, args: object, options: object) -> None:
    _averaged[optimizer] = []
