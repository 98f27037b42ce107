"""What runs the tensors: XLA, CUDA or the CPU, behind the same functions.

Code that is to run on all three asks here instead of torch_xla or ``torch.cuda``. The functions decide once a process:
CUDA where torch sees a GPU, else XLA where torch_xla is installed, else the CPU. On CUDA they do what the functions of
torch do that they stand for; on the CPU, what these do where there is no GPU. torch_xla is imported by the first call
that needs it, and only where it is chosen.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable
from typing import Any

import torch

from tpulint_runtime.backend.plain import PlainBackend
from tpulint_runtime.backend.protocol import Backend, Counts, Place
from tpulint_runtime.backend.xla import XlaBackend
from tpulint_runtime.nested import leaves

__all__ = [
    "Backend",
    "Counts",
    "Place",
    "PlainBackend",
    "XlaBackend",
    "autocast",
    "checkpoint",
    "current",
    "device",
    "device_type",
    "init_process_group",
    "is_available",
    "is_bf16_supported",
    "manual_seed",
    "pin_memory",
    "place",
    "save",
    "spawn",
    "sync",
    "world_size",
]


@functools.cache
def own() -> Backend:
    """The backend of this process: CUDA where torch sees a GPU, else XLA where it is installed, else the CPU."""
    if torch.cuda.is_available():
        return PlainBackend(torch.device("cuda"))
    return XlaBackend() if _is_installed("torch_xla") else PlainBackend(torch.device("cpu"))


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # kept from being imported
        return False


# ---------------------------------------------------------------- device


def device(index: int | None = None) -> torch.device:
    """The device of this process. On CUDA that with this number, or the current one."""
    return own().device(index)


def device_type() -> str:
    """``"cuda"``, ``"xla"`` or ``"cpu"``: a name torch's functions take for the device. Starts no runtime."""
    return own().device_type()


def is_available() -> bool:
    """Whether there is an accelerator, as ``torch.cuda.is_available()`` asks for GPUs. Starts no runtime."""
    return own().name != "cpu"


def is_bf16_supported() -> bool:
    """Whether there is an accelerator that computes in bfloat16."""
    return own().is_bf16_supported()


def sync(wait: bool = False) -> None:
    """Ends the step: on XLA, what was traced so far is run. With ``wait``, returns when the device is done."""
    own().sync(wait)


def manual_seed(seed: int) -> None:
    """Seeds the random numbers drawn on the device, which on XLA ``torch.manual_seed`` does not reach."""
    own().seed(seed)


def pin_memory(tensor: torch.Tensor) -> torch.Tensor:
    """``tensor.pin_memory()`` where there is a GPU to copy to; else the tensor."""
    return own().pin_memory(tensor)


# ---------------------------------------------------------------- step


def autocast(
    enabled: bool = True, dtype: torch.dtype | None = None, cache_enabled: bool | None = None
) -> torch.autocast:
    """``torch.autocast`` for the accelerator, with the arguments of ``torch.cuda.amp.autocast``.

    On XLA bfloat16 stands in for float16. Where there is no accelerator nothing is cast.
    """
    return own().autocast(enabled, dtype, cache_enabled)


def checkpoint(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """``torch.utils.checkpoint.checkpoint``; on XLA its counterpart, which is always reentrant."""
    return own().checkpoint(function, *args, **options)


def save(obj: object, f: Any) -> None:
    """``torch.save``; from XLA with all tensors fetched at once, and written as tensors of the host."""
    own().save(obj, f)


# ---------------------------------------------------------------- processes


def init_process_group(backend: str | None = None, *args: Any, **options: Any) -> None:
    """``torch.distributed.init_process_group``: with this backend on CUDA, else with that of XLA or the CPU.

    On XLA the runtime knows rank and number of processes; what is passed for them is not used.
    """
    own().join_group(backend, *args, **options)


def spawn(fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, **options: Any) -> Any:
    """``torch.multiprocessing.spawn``; on XLA ``torch_xla.launch``, with one process for each chip. At least one."""
    return own().spawn(fn, args, nprocs, **options)


def world_size(wanted: int) -> int:
    """Number of the processes that :func:`spawn` started when asked for ``wanted``. Ask in one of them."""
    return own().world_size(wanted)


def place() -> Place:
    """Which process this is, and how many train together: ``rank`` and ``processes``. One alone is 0 of 1. Under a mesh
    one process drives all devices, and on several machines there is one for each.

    Ask in the processes, not in the one that starts them: on XLA this starts the runtime."""
    return own().place()


# ---------------------------------------------------------------- any tensor


def current(using: Any = None) -> Backend:
    """The backend that runs ``using``: a tensor, a module, a device, its name, or a batch of these.

    - The first tensor, parameter or device found in ``using`` decides: XLA for device type ``xla``, plain otherwise.
    - Without one, XLA if this process has imported torch_xla, which it must have to own an XLA tensor; otherwise
      plain, on CUDA if there is one. That torch_xla could be imported decides nothing: importing it takes seconds and
      changes how torch behaves (mixed precision, gradient clipping).

    Raises ImportError if ``using`` is on XLA by name, but torch_xla is not installed.
    """
    found = _device_of(using)
    if found is None:
        if sys.modules.get("torch_xla") is not None:  # None: it is kept out
            return XlaBackend()
        return PlainBackend(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    if found.type != "xla":
        return PlainBackend(found)
    found_xla = XlaBackend()
    found_xla.device_type()  # a missing torch_xla is reported here, not by the first count
    return found_xla


def _device_of(using: Any) -> torch.device | None:
    for _, leaf in leaves(using):
        if isinstance(leaf, torch.device):
            return leaf
        if isinstance(leaf, torch.Tensor):
            return leaf.device
        if isinstance(leaf, str) and leaf is using:
            return torch.device(leaf)
        if isinstance(leaf, torch.nn.Module):
            for parameter in leaf.parameters():
                return parameter.device
    return None
