"""Files that ask for GPUs to know about CUDA itself: no is the right answer on a TPU machine."""

from __future__ import annotations

from tpulint.context import FileContext

_BUILDS_KERNELS = r"\bCUDAExtension\("
"""The setup of a package with CUDA kernels, which asks for GPUs to know what to build."""
_REPORTS = r"\btorch\.version\.cuda\b|\bget_env_info\b"
"""What tells which CUDA there is: the report that people send with their questions."""
_USES = r"\.cuda\(|\.to\(|\.backward\(|\btorch\.device\(|\bdevice ?="


def is_about_cuda(ctx: FileContext) -> bool:
    """Whether a file builds kernels, or says what there is and puts nothing there."""
    index = ctx.index
    if index.mentions(_BUILDS_KERNELS, "CUDAExtension("):
        return True
    return index.mentions(_REPORTS, "torch.version.cuda", "get_env_info") and not index.mentions(_USES)
