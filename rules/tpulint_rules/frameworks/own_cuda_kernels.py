"""Kernels for CUDA that a project builds itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding

_EXTENSIONS = "torch.utils.cpp_extension"


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to(*(f"{_EXTENSIONS}.{name}" for name in ("CUDAExtension", "load", "load_inline"))):
        if not _is_optional(ctx, call) and _has_kernels(ctx, call):
            message = (
                f"`{ctx.text(call.func)}` builds kernels for CUDA, which cannot be built on a TPU machine and take no "
                "XLA tensor; write what they do with operations of torch, which XLA fuses"
            )
            yield ctx.finding(call, message)


def _has_kernels(ctx: FileContext, call: ast.Call) -> bool:
    """Whether an extension is for CUDA: by its class, by ``.cu`` files among its sources, or written in the call."""
    name = (ctx.index.qualified_name(call.func) or "").rpartition(".")[2]
    if name == "load_inline":
        return any(keyword.arg == "cuda_sources" for keyword in call.keywords)
    texts = (node.value for node in ctx.index.tree.inside(call) if isinstance(node, ast.Constant))
    return name == "CUDAExtension" or any(isinstance(text, str) and text.endswith(".cu") for text in texts)


def _is_optional(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a condition or a handler may lead past it, as where the project has another way without CUDA."""
    return any(isinstance(above, ast.If | ast.IfExp | ast.Try) for above in ctx.index.tree.ancestors(call))
