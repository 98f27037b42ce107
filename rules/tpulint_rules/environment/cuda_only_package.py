"""Packages that are made of CUDA kernels, in lists of what to install."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.model import Finding
from tpulint.text_files.context import TextContext

_ATTENTION = "`torch.nn.functional.scaled_dot_product_attention` does the same on XLA"
_OPTIMIZERS = "the optimizers of torch.optim run on XLA"
_PLAIN = "what it computes has to be written with operations of torch"
_SPARSE = "sparse convolutions have no XLA kernels"
_COMPILED = "XLA compiles models itself"
_PACKAGES = {
    "flash-attn": _ATTENTION, "flash-attention": _ATTENTION, "xformers": _ATTENTION,
    "apex": _OPTIMIZERS, "nvidia-apex": _OPTIMIZERS, "bitsandbytes": _OPTIMIZERS,
    "transformer-engine": "bfloat16 is what XLA computes fast",
    "triton": _PLAIN, "tiny-cuda-nn": _PLAIN, "tinycudann": _PLAIN, "mamba-ssm": _PLAIN, "causal-conv1d": _PLAIN,
    "pycuda": _PLAIN, "minkowskiengine": _SPARSE, "torchsparse": _SPARSE,
    "torch-tensorrt": _COMPILED, "tensorrt": _COMPILED,
    "deepspeed": "shard with `torch_xla.distributed.fsdp` or SPMD",
    "horovod": "average gradients with `xm.optimizer_step` or DistributedDataParallel",
    "onnxruntime-gpu": "`onnxruntime` runs on the CPU",
}  # fmt: skip
_FAMILIES = {"cupy": _PLAIN, "spconv": _SPARSE, "nvidia-dali": "load with torch.utils.data"}
"""Beginnings of names: what follows is a version of CUDA."""
_OF_TORCH = ("triton",)
_OF_ANYBODY = (
    "triton",
    "cupy",
    "pycuda",
    "tensorrt",
    "onnxruntime-gpu",
    "horovod",
    "nvidia-dali",
    "tiny-cuda-nn",
    "apex",
)
"""Packages that are of use without torch too: they say nothing of what a file is for."""


def check_text(ctx: TextContext) -> Iterator[Finding]:
    index = ctx.index
    if index.is_variant_for_gpus:
        return
    requirements = index.installs.requirements
    brought = index.is_locked or any(one.name.startswith("nvidia-c") for one in requirements)
    for one in requirements:
        family = one.name.split("-cu")[0]
        if (one.name in _OF_TORCH and brought) or "extra" in one.marker:
            continue
        if not index.concerns_torch and family in _OF_ANYBODY:
            continue
        instead = _PACKAGES.get(one.name) or _FAMILIES.get(family)
        if instead is not None:
            yield ctx.finding(one.span, f"`{one.name}` has no kernels for TPUs; {instead}")
