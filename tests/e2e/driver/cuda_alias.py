"""Makes the name "cuda" mean the CPU, so that the GPU branches of a script run on any machine."""

from __future__ import annotations

import types
from typing import Any

import torch
import torch.distributed
from torch.nn.parallel import DataParallel, DistributedDataParallel
from torch.overrides import TorchFunctionMode

CPU = torch.device("cpu")

SILENT = (
    "empty_cache init ipc_collect manual_seed manual_seed_all reset_peak_memory_stats set_device set_stream synchronize"
)
ZERO = "current_device max_memory_allocated max_memory_reserved memory_allocated memory_reserved"
LEGACY_TYPES = ("Float", "Double", "Half", "Byte", "Int", "Long", "Bool")


def is_cuda(device: object) -> bool:
    """Whether ``device`` names a GPU: by string, by torch.device or by index."""
    if isinstance(device, torch.device):
        return device.type == "cuda"
    if isinstance(device, str):
        return device.startswith("cuda")
    return isinstance(device, int) and not isinstance(device, bool)


def alias(value: Any) -> Any:
    """The CPU for a GPU, anything else unchanged."""
    return CPU if is_cuda(value) else value


class CudaAlias(TorchFunctionMode):
    """Sends every tensor that is asked for on a GPU to the CPU."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func is torch.Tensor.cuda:
            return args[0]
        if func is torch.Tensor.pin_memory:
            return args[0]
        if func is torch.Tensor.to:
            args = (args[0], *map(alias, args[1:]))
        if kwargs.get("device") is not None:
            kwargs["device"] = alias(kwargs["device"])
        return func(*args, **kwargs)


def install() -> None:
    """Aliases for the rest of this process."""
    CudaAlias().__enter__()
    _alias_devices()
    _alias_loading()
    _alias_parallel()
    _disable_loss_scaling()


def _alias_devices() -> None:
    cuda = torch.cuda
    for name in SILENT.split():
        setattr(cuda, name, lambda *args, **kwargs: None)
    for name in ZERO.split():
        setattr(cuda, name, lambda *args, **kwargs: 0)
    cuda.is_available = lambda: True
    cuda.is_current_stream_capturing = lambda: False
    cuda.device_count = lambda: 1
    cuda.is_bf16_supported = lambda *args, **kwargs: True
    cuda.get_device_name = lambda *args, **kwargs: "CPU in disguise"
    cuda.get_device_capability = lambda *args, **kwargs: (8, 0)
    cuda.get_device_properties = lambda *args, **kwargs: types.SimpleNamespace(
        name="CPU in disguise", total_memory=1 << 34, major=8, minor=0, multi_processor_count=1
    )
    for name in LEGACY_TYPES:
        setattr(cuda, name + "Tensor", getattr(torch, name + "Tensor"))
    accelerator = torch.accelerator
    accelerator.is_available = lambda: True
    accelerator.device_count = lambda: 1
    accelerator.current_accelerator = lambda *args, **kwargs: torch.device("cuda")
    accelerator.set_device_index = accelerator.synchronize = lambda *args, **kwargs: None


def _alias_loading() -> None:
    load = torch.load

    def load_on_cpu(file: Any, map_location: Any = None, **kwargs: Any) -> Any:
        return load(file, map_location="cpu", **kwargs)

    torch.load = load_on_cpu


def _alias_parallel() -> None:
    def init_data_parallel(self: Any, module: Any, *args: Any, **kwargs: Any) -> None:
        torch.nn.Module.__init__(self)
        self.module, self.device_ids = module, []

    DataParallel.__init__ = init_data_parallel

    init_ddp = DistributedDataParallel.__init__

    def init_ddp_on_cpu(self: Any, module: Any, device_ids: Any = None, output_device: Any = None, **kw: Any) -> None:
        init_ddp(self, module, **kw)

    DistributedDataParallel.__init__ = init_ddp_on_cpu

    init_process_group = torch.distributed.init_process_group

    def init_gloo(backend: Any = None, *args: Any, **kwargs: Any) -> None:
        kwargs.pop("device_id", None)
        init_process_group("gloo", *args, **kwargs)

    torch.distributed.init_process_group = init_gloo


def _disable_loss_scaling() -> None:
    """The recorded loss is the unscaled one; the CPU computes in float32 anyway."""
    init = torch.amp.GradScaler.__init__

    def init_disabled(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, "cpu", enabled=False)

    torch.amp.GradScaler.__init__ = init_disabled
