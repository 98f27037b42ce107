"""Datasets whose tensors lie on the device: each sample is cut out of them by a number that is part of the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope
from tpulint.semantic.loaders import Loader

_DATASET = "torch.utils.data.TensorDataset"


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for dataset in index.calls_to(_DATASET):
        tensors = [item for item in dataset.args if index.is_device_tensor(item)]
        loaders = [loader for loader in index.loaders.all if _draws(ctx, loader, dataset)] if tensors else []
        if loaders:
            related = tuple((index.span(loader.call), "samples are drawn here") for loader in loaders)
            message = "samples of tensors on the device are cut out one by one: a graph of its own for each batch"
            yield ctx.finding(dataset, message, _fix(ctx, dataset, tensors, loaders), related=related)


def _draws(ctx: FileContext, loader: Loader, dataset: ast.Call) -> bool:
    """Whether a loader takes its samples from a dataset itself, not from a part of it."""
    given = (loader.arguments or {}).get("dataset", [])
    return len(given) == 1 and any(made.node is dataset for made in ctx.index.moves.creations.of(given[0]))


def _fix(ctx: FileContext, dataset: ast.Call, tensors: list[ast.expr], loaders: list[Loader]) -> FixBuilder | None:
    """Keeps the samples on the host, and moves each batch as a whole."""
    for loader in loaders:
        arguments = loader.arguments or {}
        workers = [ctx.index.loaders.counts.number(value) for value in arguments.get("num_workers", [])]
        if "collate_fn" in arguments or "batch_sampler" in arguments or any(count != 0 for count in workers):
            return None
    if len(tensors) < len(dataset.args) or not _is_only_drawn(ctx, dataset, loaders):
        return None
    reason = "The samples stay on the host, and each batch is moved when it is put together."
    fix = ctx.fix("Keep the samples on the host", Applicability.UNSAFE, reason, Scope.MODULE)
    for tensor in tensors:
        fix.append(tensor, ".cpu()")
    for loader in loaders:
        collate = fix.use("torch.utils.data", "default_collate", at=loader.call)
        moved = f"[part.to({fix.device(loader.call)}) for part in {collate}(samples)]"
        fix.set_argument(loader.call, "collate_fn", f"lambda samples: {moved}")
    return fix


def _is_only_drawn(ctx: FileContext, dataset: ast.Call, loaders: list[Loader]) -> bool:
    """Whether a dataset is given to loaders and nothing else."""
    statement = ctx.index.parent(dataset)
    drawn = {value for loader in loaders for value in (loader.arguments or {})["dataset"]}
    if dataset in drawn:
        return True
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name) or len(ctx.index.names.bindings(target)) != 1:
        return False
    uses = ctx.index.names.loads(target.id, ctx.index.names.scope_of(target))
    return bool(uses) and all(use in drawn for use in uses)
