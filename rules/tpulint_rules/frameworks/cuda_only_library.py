"""Imports of libraries that are made of CUDA kernels."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity
from tpulint.semantic.syntax.hints import words_of_hints
from tpulint_rules.frameworks._apex import without_apex
from tpulint_rules.frameworks._demands import is_demand, is_missed, is_used_always
from tpulint_rules.frameworks._gpu_indexes import gpu_indexes

_ATTENTION = "`torch.nn.functional.scaled_dot_product_attention` does the same on XLA"
_OPTIMIZERS = "the optimizers of torch.optim run on XLA"
_APEX = "`torch.autocast`, `torch.optim` and torch's own DistributedDataParallel run on XLA"
_PLAIN = "write it with operations of torch, which XLA fuses"
_MEMORY = "`torch_xla.core.xla_model.get_memory_info` tells the memory in use"
_SPARSE = "sparse convolutions have no XLA kernels"
_ON_CPU = "search on the CPU, with `faiss.IndexFlatL2` and its like"
_SPLATS = "splats and meshes have no rasterizer for XLA"
_POINTS = "write neighbours and groups with `torch.cdist`, `topk` and `gather`"
_COMPILED = "XLA compiles models itself"
_LIBRARIES = {
    "flash_attn": _ATTENTION, "xformers": _ATTENTION, "flash_attn_interface": _ATTENTION,
    "bitsandbytes": _OPTIMIZERS, "apex": _APEX, "amp_C": _OPTIMIZERS,
    "unsloth": "the models of transformers, with LoRA of peft, run on XLA",
    "deepspeed": "shard with `torch_xla.distributed.fsdp` or SPMD",
    "horovod": "average gradients with `xm.optimizer_step` or DistributedDataParallel",
    "transformer_engine": "bfloat16 is what XLA computes fast",
    "triton": _PLAIN, "cupy": _PLAIN, "pycuda": _PLAIN, "tinycudann": _PLAIN, "mamba_ssm": _PLAIN,
    "causal_conv1d": _PLAIN, "causal_conv1d_cuda": _PLAIN, "selective_scan_cuda": _PLAIN, "numba.cuda": _PLAIN,
    "rotary_emb": _PLAIN, "dropout_layer_norm": _PLAIN, "fused_dense_lib": _PLAIN, "xentropy_cuda_lib": _PLAIN,
    "flash_attn_cuda": _ATTENTION, "flash_attn_2_cuda": _ATTENTION, "fused_layer_norm_cuda": _PLAIN,
    "spconv": _SPARSE, "MinkowskiEngine": _SPARSE, "torchsparse": _SPARSE,
    "diff_gaussian_rasterization": _SPLATS, "diff_surfel_rasterization": _SPLATS, "gsplat": _SPLATS,
    "nvdiffrast": _SPLATS, "simple_knn": _POINTS, "pointnet2_ops": _POINTS, "knn_cuda": _POINTS,
    "MultiScaleDeformableAttention": "sample with `torch.nn.functional.grid_sample`",
    "pynvml": _MEMORY, "py3nvml": _MEMORY, "nvidia_smi": _MEMORY, "GPUtil": _MEMORY,
    "nvidia.dali": "load with torch.utils.data", "tensorrt": _COMPILED, "torch_tensorrt": _COMPILED,
}  # fmt: skip
_PLAIN_NAMES = ("rotary_emb", "dropout_layer_norm")
"""Libraries that a project may have a file of the same name as, from which it would import a name."""
_WITH_TORCH = ("triton", "numba.cuda")
"""Libraries that may be there without a GPU: the import does not fail."""
_AVAILABLE = re.compile(r"avail|version|install|has_|find_spec|modules|is (not )?None", re.IGNORECASE)
"""In a condition: it asks for what is installed."""
_FLEX = "torch.nn.attention.flex_attention"


def check(ctx: FileContext) -> Iterator[Finding]:
    apex: list[FixBuilder | None] = []
    for node in ctx.index.tree.binders:
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            modules = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
            if node.module in _PLAIN_NAMES:
                continue
        else:
            continue
        found = next((name for module in modules if (name := _library(module)) is not None), None)
        if _FLEX in modules and _is_needed(ctx, node) and _is_always_used(ctx, node):
            message = f"`{_FLEX}` has kernels for GPUs and the CPU alone, and raises for an XLA tensor; {_ATTENTION}"
            yield ctx.finding(node, message)
        is_needed = found is not None and _is_needed(ctx, node)
        if found == "apex" and not is_needed and (_is_asked_for(ctx, node) or is_missed(ctx, node)):
            apex = apex or [without_apex(ctx)]
            if apex[0] is not None:
                message = f"`apex` is made of CUDA kernels: what needs it fails on a TPU machine; {_APEX}"
                yield ctx.finding(node, message, apex[0], severity=Severity.WARNING, certainty=Certainty.LIKELY)
        is_open = found is not None and found not in ("apex", *_WITH_TORCH) and not is_needed
        if found is not None and is_open and is_used_always(ctx, node) and is_missed(ctx, node):
            message = f"`{found}` is made of CUDA kernels: what needs it fails on a TPU machine; {_LIBRARIES[found]}"
            yield ctx.finding(node, message, severity=Severity.WARNING, certainty=Certainty.LIKELY)
        if found is not None and is_needed:
            message = f"`{found}` is made of CUDA kernels: it does not work on a TPU machine; {_LIBRARIES[found]}"
            if found == "apex" and not apex:
                apex.append(without_apex(ctx))
            yield ctx.finding(node, message, (apex[0] if found == "apex" else None) or _without_use(ctx, node))
    for reference, name in gpu_indexes(ctx.index):
        message = f"`{name}` works with a GPU alone, and fails with faiss-cpu; {_ON_CPU}"
        yield ctx.finding(reference, message)


def _is_needed(ctx: FileContext, node: ast.Import | ast.ImportFrom) -> bool:
    """Whether the script ends where the import fails.

    In a function, under a condition or in a `try`, the file may well go on without it.
    """
    holder = ctx.index.parent(node)
    if isinstance(holder, ast.Try) and is_demand(holder):
        holder = ctx.index.parent(holder)
    return isinstance(holder, ast.Module)


def _is_asked_for(ctx: FileContext, node: ast.Import | ast.ImportFrom) -> bool:
    """Whether a program imports where an option wants the library, and nothing asks whether it is there.

    A library may have a function for those who have Apex.
    """
    if not ctx.index.is_program:
        return False
    ancestors = list(ctx.index.tree.ancestors(node))
    tests = [ctx.text(ancestor.test) for ancestor in ancestors if isinstance(ancestor, ast.If)]
    in_function = any(isinstance(ancestor, ast.FunctionDef | ast.AsyncFunctionDef) for ancestor in ancestors)
    in_branch = bool(tests) and all(is_demand(ancestor) for ancestor in ancestors if isinstance(ancestor, ast.Try))
    return (in_function or in_branch) and not any(map(_AVAILABLE.search, tests))


def _is_always_used(ctx: FileContext, node: ast.Import | ast.ImportFrom) -> bool:
    """Whether code that no branch leads past calls what is imported, and there is no other attention beside it."""
    if ctx.index.mentions(r"\bscaled_dot_product_attention\b"):
        return False
    names, tree = ctx.index.names, ctx.index.tree
    bound = (
        [alias.asname or alias.name.split(".")[0] for alias in node.names] if isinstance(node, ast.ImportFrom) else []
    )
    return any(
        not any(isinstance(ancestor, ast.If | ast.IfExp | ast.Try) for ancestor in tree.ancestors(load))
        for name in bound
        for load in names.loads(name, names.module)
        if isinstance(call := tree.parents[load], ast.Call) and call.func is load
    )


def _without_use(ctx: FileContext, node: ast.Import | ast.ImportFrom) -> FixBuilder | None:
    """Removes an import whose names nothing in the file uses."""
    names = ctx.index.names
    modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    bound = [alias.asname or alias.name.split(".")[0] for alias in node.names]
    shared = ctx.source.path.replace("\\", "/").endswith("__init__.py") or ctx.index.mentions(r"\b__all__\b")
    if shared or "*" in bound or not all(map(_library, modules)):
        return None
    if any(names.loads(name, names.module) for name in bound) or not words_of_hints(ctx.index.tree).isdisjoint(bound):
        return None
    reason = "Another file may import the name from here."
    fix = ctx.fix("Remove the unused import", Applicability.UNSAFE, reason, Scope.STATEMENT)
    fix.delete(node)
    return fix


def _library(module: str) -> str | None:
    """The library that a module belongs to."""
    parts = module.split(".")
    return next((name for name in (".".join(parts[:2]), parts[0]) if name in _LIBRARIES), None)
