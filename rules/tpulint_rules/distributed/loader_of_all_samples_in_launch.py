"""Launched processes that all train on the same samples."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import LOOPS
from tpulint.semantic.loaders import LOADER, Loader

# Whatever gives each process a part of its own.
_DIVIDES = r"DistributedSampler|IterableDataset|num_replicas|\bshard|split_dataset|wds\.|webdataset|use_spmd|accelerat"
_DIVIDING = ("sampler", "batch_sampler")


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not any(launch.starts_processes for launch in index.launches.launches) or index.mentions(_DIVIDES):
        return
    for loader in index.loaders.of_device:
        launch = index.launches.launch_of(loader.call)
        if not loader.feeds or launch is None or not launch.starts_processes or loader.arguments is None:
            continue
        datasets = loader.arguments.get("dataset", [])
        if not datasets or any(name in loader.arguments for name in _DIVIDING):
            continue
        if any(index.ranks.is_made_from_rank(dataset) for dataset in datasets):
            continue
        message = "every process trains on all samples: `torch_xla.launch` and `MpDeviceLoader` do not share them out"
        yield ctx.finding(loader.call, message, _fix(ctx, loader), certainty=Certainty.LIKELY)


def _fix(ctx: FileContext, loader: Loader) -> FixBuilder | None:
    call = loader.call
    dataset = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "dataset"), None)
    if ctx.index.qualified_name(call.func) != LOADER:
        return None  # a class of the project may say itself whether it shuffles
    if dataset is None or len(call.args) > 2 or any(keyword.arg is None for keyword in call.keywords):
        return None
    if not isinstance(dataset, ast.Name | ast.Attribute):
        return None
    reason = "Each process trains on its part of the samples: an epoch is as many times shorter as there are chips."
    fix = ctx.fix("Share the samples out", Applicability.UNSAFE, reason)
    sampler = fix.use("torch.utils.data.distributed", "DistributedSampler", at=call)
    xr = fix.use("torch_xla.runtime", alias="xr", at=call)
    shuffle = next((keyword for keyword in call.keywords if keyword.arg == "shuffle"), None)
    shuffled = ctx.text(shuffle.value) if shuffle is not None else "False"
    ranks = f"num_replicas={xr}.world_size(), rank={xr}.global_ordinal()"
    new = f"{sampler}({ctx.text(dataset)}, {ranks}, shuffle={shuffled})"
    if shuffle is not None:
        fix.replace(shuffle, f"sampler={new}")
    else:
        fix.set_argument(call, "sampler", new)
    if shuffled != "False":
        _set_epochs(ctx, fix, call)
    return fix


def _set_epochs(ctx: FileContext, fix: FixBuilder, call: ast.Call) -> None:
    """Tell the sampler of each epoch, so that every one has an order of its own."""
    statement = ctx.index.statement_of(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is call else None
    if not isinstance(target, ast.Name) or len(ctx.index.names.bindings(target)) != 1:
        return
    for loop in ctx.index.step_loops:
        outer = next((node for node in ctx.index.tree.ancestors(loop.node) if isinstance(node, LOOPS)), None)
        if not isinstance(outer, ast.For) or ctx.index.function_of(outer) is not ctx.index.function_of(call):
            continue
        counter = ctx.index.qualified_name(outer.iter.func) if isinstance(outer.iter, ast.Call) else None
        if counter == "builtins.range" and isinstance(outer.target, ast.Name):
            fix.insert_before(outer.body[0], f"{target.id}.sampler.set_epoch({outer.target.id})")
            return
