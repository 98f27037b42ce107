"""``torch.is_autocast_enabled()`` and ``torch.get_autocast_gpu_dtype()``, which answer for CUDA."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding

_ASKED = {
    "torch.is_autocast_enabled": "torch.is_autocast_enabled",
    "torch.get_autocast_gpu_dtype": "torch.get_autocast_dtype",
}
_ANSWERS = {
    "torch.is_autocast_enabled": "is False under autocast for XLA",
    "torch.get_autocast_gpu_dtype": "is float16 under autocast for XLA in bfloat16",
}
_KERNELS = r"\bimport triton\b|\bfrom triton\b|\b\w+_cuda\b"
"""How files speak of kernels that run on GPUs alone."""
_REASON = "What the answer decides is another branch than without it."


def asked_autocasts(ctx: FileContext) -> Iterator[Finding]:
    """Questions for autocast that name no device, in a project that uses it."""
    index = ctx.index
    for call in index.calls_to(*_ASKED):
        name = index.qualified_name(call.func) or ""
        if call.args or call.keywords or index.devices.is_guarded(call) or index.callers.use_for_gpus(call):
            continue
        is_used = index.mixed_precision.autocasts or index.imported.others_mentioning("autocast")
        if not is_used or index.mentions(_KERNELS):
            return
        fix = ctx.fix("Ask for XLA", Applicability.UNSAFE, _REASON)
        module = ctx.text(call.func).rpartition(".")[0] or fix.use("torch", at=call)
        fix.replace(call, f'{module}.{_ASKED[name].rpartition(".")[2]}("xla")')
        yield ctx.finding(call, f"`{ctx.text(call)}` asks for CUDA, and {_ANSWERS[name]}", fix)
