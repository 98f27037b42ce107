"""Lets a script for GPUs run on the CPU: CUDA is said to be there, and whatever is put on it stays on the CPU."""

from __future__ import annotations

import functools
import types
from typing import Any

import torch
import torch.distributed
from torch.nn.parallel import DataParallel, DistributedDataParallel
from torch.overrides import TorchFunctionMode

_torch: Any = torch
"""Without types: what is replaced here is not meant to be."""
_Mode: Any = TorchFunctionMode

_NAME = "CPU in place of a GPU"
_NOTHING = (
    "empty_cache init _lazy_init ipc_collect manual_seed manual_seed_all reset_accumulated_memory_stats "
    "reset_max_memory_allocated reset_max_memory_cached reset_peak_memory_stats seed seed_all set_device "
    "set_per_process_memory_fraction set_rng_state set_rng_state_all set_stream synchronize"
)
_ZERO = (
    "current_device initial_seed max_memory_allocated max_memory_cached max_memory_reserved memory_allocated "
    "memory_cached memory_reserved utilization"
)
_LEGACY_TYPES = ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool")


def install() -> None:
    """For the rest of this process."""
    _Absorption().__enter__()
    _absorb_module()
    _absorb_accelerator()
    _absorb_generators()
    _absorb_loading()
    _absorb_parallelism()
    _absorb_compiling_and_scaling()


def _names_gpu(device: object) -> bool:
    if isinstance(device, torch.device):
        return str(device.type) == "cuda"
    if isinstance(device, str):
        return device.partition(":")[0] == "cuda"
    return isinstance(device, int) and not isinstance(device, bool)


def _absorbed(device: Any) -> Any:
    return torch.device("cpu") if _names_gpu(device) else device


def _names_host(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether ``to`` is told the host."""
    asked = [*args[:1], kwargs.get("device")]
    return any(isinstance(one, str | torch.device) and str(one).partition(":")[0] == "cpu" for one in asked)


class _Absorption(_Mode):  # type: ignore[misc]
    """Sends every tensor that is asked for on a GPU to the CPU."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in (torch.Tensor.cuda, torch.Tensor.pin_memory):
            return args[0]
        if func is torch.Tensor.is_pinned:
            return True
        is_fetched = func is torch.Tensor.cpu or (func is torch.Tensor.to and _names_host(args[1:], kwargs))
        if func is torch.Tensor.to:
            args = (args[0], *map(_absorbed, args[1:]))
        elif func is torch.Tensor.type and len(args) > 1 and isinstance(args[1], str):
            args = (args[0], args[1].replace("torch.cuda.", "torch."))
        if kwargs.get("device") is not None:
            kwargs["device"] = _absorbed(kwargs["device"])
        result = func(*args, **kwargs)
        # What is fetched from a GPU is a copy: weights that are kept on the host do not change with the model.
        return result.clone() if is_fetched and result is args[0] else result


def _always(value: Any) -> Any:
    """A new function each time: torch keeps tables by identity of functions."""

    def answer(*args: Any, **kwargs: Any) -> Any:
        return value

    return answer


class _Idle:
    """A stream or an event on which nothing ever waits."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __enter__(self) -> _Idle:
        return self

    def __exit__(self, *args: object) -> None:
        pass

    def elapsed_time(self, other: object) -> float:
        """Milliseconds; not 0, for somebody may divide by it."""
        return 1.0

    def query(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _always(None)


def _absorb_module() -> None:
    cuda: Any = torch.cuda
    for name in _NOTHING.split():
        setattr(cuda, name, _always(None))
    for name in _ZERO.split():
        setattr(cuda, name, _always(0))
    cuda.is_available = _always(True)
    cuda.is_initialized = _always(True)
    cuda.is_bf16_supported = _always(True)
    cuda.is_current_stream_capturing = _always(False)
    cuda.device_count = _always(1)
    cuda.get_device_name = _always(_NAME)
    cuda.get_device_capability = _always((8, 0))
    cuda.get_rng_state = lambda *args, **kwargs: torch.get_rng_state()
    cuda.get_rng_state_all = lambda *args, **kwargs: [torch.get_rng_state()]
    cuda.mem_get_info = _always((1 << 34, 1 << 34))
    cuda.memory_summary = _always("")
    cuda.memory_stats = _always({})
    cuda.get_device_properties = _always(
        types.SimpleNamespace(name=_NAME, total_memory=1 << 34, major=8, minor=0, multi_processor_count=1)
    )
    for name in ("Event", "Stream", "device", "stream"):
        setattr(cuda, name, type(name, (_Idle,), {}))
    for name in ("current_stream", "default_stream"):
        setattr(cuda, name, lambda *args, **kwargs: _Idle())
    for name in ("range_push", "range_pop", "mark"):
        setattr(cuda.nvtx, name, _always(None))
    for name in _LEGACY_TYPES:
        setattr(cuda, f"{name}Tensor", getattr(torch, f"{name}Tensor"))
    _torch.nn.Module.cuda = lambda self, device=None: self


def _absorb_accelerator() -> None:
    accelerator: Any = getattr(torch, "accelerator", None)
    if accelerator is None:
        return
    accelerator.is_available = _always(True)
    accelerator.device_count = _always(1)
    accelerator.current_accelerator = lambda *args, **kwargs: torch.device("cuda")
    for name in ("current_device_index", "current_device_idx"):
        setattr(accelerator, name, _always(0))
    for name in ("set_device_index", "set_device_idx", "synchronize"):
        setattr(accelerator, name, _always(None))


def _absorb_generators() -> None:
    plain = _torch.Generator

    class Kind(type):
        """Every generator passes for one of this class."""

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, plain)

    def new(cls: Any, device: Any = "cpu") -> Any:
        return plain.__new__(cls, device=_absorbed(device))

    _torch.Generator = Kind("Generator", (plain,), {"__new__": new})


def _absorb_loading() -> None:
    load = torch.load

    @functools.wraps(load)
    def load_on_host(file: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        return load(file, "cpu", *args, **kwargs)

    _torch.load = load_on_host
    set_default = _torch.set_default_device
    _torch.set_default_device = lambda device: set_default(_absorbed(device))
    _torch.set_default_tensor_type = _always(None)


def _absorb_parallelism() -> None:
    def init_data_parallel(self: Any, module: Any, *args: Any, **kwargs: Any) -> None:
        torch.nn.Module.__init__(self)
        self.module, self.device_ids = module, []

    replicated: Any = DataParallel
    replicated.__init__ = init_data_parallel

    distributed: Any = DistributedDataParallel
    init = distributed.__init__

    @functools.wraps(init)
    def init_on_host(self: Any, module: Any, device_ids: Any = None, output_device: Any = None, **kwargs: Any) -> None:
        init(self, module, **kwargs)

    distributed.__init__ = init_on_host

    start: Any = torch.distributed.init_process_group

    @functools.wraps(start)
    def start_gloo(backend: Any = None, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("device_id", None)
        return start("gloo", *args, **kwargs)

    _torch.distributed.init_process_group = start_gloo
    _torch.distributed.distributed_c10d.init_process_group = start_gloo


def _absorb_compiling_and_scaling() -> None:
    """Neither changes what is computed, but for rounding."""

    def leave(model: Any = None, *args: Any, **kwargs: Any) -> Any:
        return model if model is not None else lambda function: function

    _torch.compile = leave
    init = _torch.amp.GradScaler.__init__

    def init_disabled(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, "cpu", enabled=False)

    for scaler in (_torch.amp.GradScaler, _torch.cuda.amp.GradScaler):
        scaler.__init__ = init_disabled
