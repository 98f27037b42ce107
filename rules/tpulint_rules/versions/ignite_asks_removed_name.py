"""Parts of pytorch-ignite that ask torch_xla for names it no longer has."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope
from tpulint.semantic import FUNCTIONS

_ASKING = (
    "ignite.distributed", "ignite.metrics", "ignite.contrib.metrics", "ignite.contrib.engines.common",
    "ignite.handlers.Checkpoint", "ignite.handlers.ModelCheckpoint", "ignite.handlers.DiskSaver",
    "ignite.handlers.EarlyStopping", "ignite.handlers.TerminateOnNan", "ignite.handlers.checkpoint",
    "ignite.handlers.early_stopping", "ignite.handlers.terminate_on_nan", "ignite.utils.setup_logger",
)  # fmt: skip
"""What asks for the number of processes, itself or by a decorator of its methods."""
_STILL_WORK = frozenset({"hostname", "finalize", "has_xla_support", "has_native_dist_support", "has_hvd_support"})


def check(ctx: FileContext) -> Iterator[Finding]:
    """The first use in a file: one answer, in one place of the program, serves all."""
    index = ctx.index
    if index.mentions(r"\bxrt_world_size\s*[,=]"):
        return  # the file gives the names back itself
    for node, name in index.references(*_ASKING):
        if name.rpartition(".")[2] in _STILL_WORK or not _runs(ctx, node):
            continue
        yield ctx.finding(
            node,
            f"`{name}` asks torch_xla for `xm.xrt_world_size`, which is gone since 2.7: pytorch-ignite, up to 0.5.5 at "
            "least, raises an AttributeError here",
            _given_back(ctx),
        )
        return


def _given_back(ctx: FileContext) -> FixBuilder:
    reason = "It sets names in a module of torch_xla, for the whole process."
    fix = ctx.fix("Give torch_xla the names back", Applicability.UNSAFE, reason, Scope.STATEMENT)
    xm = fix.use("torch_xla.core.xla_model", alias="xm")
    xr = fix.use("torch_xla.runtime", alias="xr")
    fix.insert_below_imports(f"{xm}.xrt_world_size, {xm}.get_ordinal = {xr}.world_size, {xr}.global_ordinal")
    return fix


def _runs(ctx: FileContext, node: ast.expr) -> bool:
    """Whether the name is called, decorates a function or is derived from."""
    parent = ctx.index.parent(node)
    if isinstance(parent, ast.Call):
        return parent.func is node
    if isinstance(parent, FUNCTIONS):
        return node in parent.decorator_list
    return isinstance(parent, ast.ClassDef) and node in parent.bases
