"""Several processes that run one script: how they start, and what only one of them does.

On XLA every process runs the same graphs, at the same step boundaries, or those with a collective in them wait for each
other for ever. So what is to happen once, a line of a log, is *computed* in all processes, and *done* in one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import torch

from tpulint_runtime import backend
from tpulint_runtime.nested import is_leaf, items, leaves, rebuild


def launch(
    function: Callable[..., object], args: tuple[Any, ...] = (), *, start_method: Literal["spawn", "fork"] = "spawn"
) -> None:
    """Runs ``function(index, *args)`` in every process that is to train, and returns when all are done.

    - XLA: ``torch_xla.launch``, with one process for each chip; under ``torchrun`` in this process. A pod is started by
      the tools of its cloud, the script on each of its machines.
    - CUDA and CPU: in this process. Under ``torchrun`` it joins the group of its processes before, unless the script
      has, with its own GPU as the current one, and leaves it behind. Without ``torchrun`` it is the only process.

    function
        ``index`` is a number of the process on its machine; what it is among all, ``backend.place()`` tells. Nothing is
        returned: what a process finds out it prints or saves.
    start_method
        ``spawn`` imports the script anew in every process: call ``launch`` under ``if __name__ == "__main__"``.
        ``fork`` is for notebooks. CUDA and CPU start nothing.

    Raises ValueError where ``spawn`` could not send ``function``: a lambda, or one defined in a function; on every
    device, so that it is told before the TPU. RuntimeError from torch_xla if the device was used before, and
    NotImplementedError once a :class:`Mesh` is open: there one process drives all devices, and needs no launch.
    """
    name = getattr(function, "__qualname__", "")
    if start_method == "spawn" and ("<locals>" in name or "<lambda>" in name):
        raise ValueError(
            f"{name} cannot be sent to other processes: define it at the top of the module, or use start_method='fork'"
        )
    backend.own().launch(function, args, start_method)


def call_once(function: Callable[..., object], *values: Any, **named: Any) -> None:
    """Calls ``function`` with ``values`` in the first process only. Tensors among them are fetched, in all processes
    alike, so that the graphs of none depend on its number: this is a host sync.

    Call it in all processes, behind a step boundary. Tensors are looked for in mappings, tuples, lists and dataclasses;
    the function gets those without dimensions as numbers, others on the host.

    .. code-block:: python

        call_once(writer.add_scalar, "loss", loss, step)
    """
    found = [leaf for _, leaf in leaves([values, named]) if isinstance(leaf, torch.Tensor)]
    own = backend.own()
    # Host sync, deliberate, and in every process: the caller wants to see these numbers.
    fetched = iter(own.fetch([tensor.detach() for tensor in found]) if found else [])
    values, named = _on_host([values, named], fetched)
    if own.place().rank == 0:
        function(*values, **named)


def print_once(*values: Any, **options: Any) -> None:
    """``print``, in the first process only: see :func:`call_once`. A text that was made of a tensor before, such as
    ``f"{loss}"``, was read in all processes as well, and is as right."""
    call_once(print, *values, **options)


def _on_host(value: Any, fetched: Any) -> Any:
    if not is_leaf(value):
        return rebuild(value, [_on_host(child, fetched) for _, child in items(value)])
    if not isinstance(value, torch.Tensor):
        return value
    tensor = next(fetched)
    return tensor.item() if tensor.dim() == 0 else tensor
