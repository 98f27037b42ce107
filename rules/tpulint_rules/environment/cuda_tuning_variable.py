"""Settings of the CUDA runtime, its allocator and its compiler."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint.text_files.context import TextContext
from tpulint_rules.environment._variables import unread_settings, unread_variables

_MEMORY = "the memory of a TPU is planned by the compiler"
_BLOCKING = "`torch_xla.sync()` behind a step shows where an error comes from"
_KERNELS = "no CUDA kernels are built or run there"
_TEXTS = {
    "PYTORCH_CUDA_ALLOC_CONF": _MEMORY, "PYTORCH_NO_CUDA_MEMORY_CACHING": _MEMORY, "CUDA_LAUNCH_BLOCKING": _BLOCKING,
    "TORCH_CUDA_ARCH_LIST": _KERNELS, "TORCH_NVCC_FLAGS": _KERNELS, "CUDA_DEVICE_ORDER": "it orders GPUs",
    "CUBLAS_WORKSPACE_CONFIG": "XLA does not call cuBLAS", "CUDA_DEVICE_MAX_CONNECTIONS": _KERNELS,
    "CUDA_MODULE_LOADING": _KERNELS, "NVIDIA_TF32_OVERRIDE": "TPUs have no TF32",
    "NVIDIA_DRIVER_CAPABILITIES": "there is no NVIDIA driver", "TORCH_CUDNN_V8_API_ENABLED": "XLA does not call cuDNN",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "TPUs have no TF32", "TORCH_CUDNN_V8_API_DISABLED": "XLA does not call cuDNN",
}  # fmt: skip


def _told(name: str, value: str) -> str:
    return f"`{name}` has no effect on a TPU: {_TEXTS[name]}" if name in _TEXTS else ""


def check(ctx: FileContext) -> Iterator[Finding]:
    yield from unread_variables(ctx, _told)


def check_text(ctx: TextContext) -> Iterator[Finding]:
    yield from unread_settings(ctx, _told)
