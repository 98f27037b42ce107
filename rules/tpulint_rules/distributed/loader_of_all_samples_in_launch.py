"""Launched processes that all train on the same samples."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import LOOPS
from tpulint.semantic.batches.loaders import LOADER, Loader
from tpulint_rules.distributed._samplers import has_epochs

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
        _set_epochs(ctx, fix, loader)
    return fix


def _set_epochs(ctx: FileContext, fix: FixBuilder, loader: Loader) -> None:
    """Tell the sampler of each epoch, so that every one has an order of its own; where that cannot be, no fix."""
    index, call = ctx.index, loader.call
    statement = index.statement_of(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is call else None
    loop = _epochs(ctx, call, target) if isinstance(target, ast.Name) else None
    if loop is not None and isinstance(target, ast.Name) and isinstance(loop.target, ast.Name):
        fix.insert_before(loop.body[0], f"{target.id}.sampler.set_epoch({loop.target.id})")
    elif not loader.loops or any(has_epochs(ctx, loop) for loop in loader.loops):
        fix.give_up()


def _epochs(ctx: FileContext, call: ast.Call, target: ast.Name) -> ast.For | None:
    """The loop over epochs around what takes batches from a loader, in the function that makes this.

    Be it a loop over batches, or a call that the loader goes to: ``train(loader, model, epoch)``.
    """
    index, function = ctx.index, ctx.index.function_of(call)
    if len(index.names.bindings(target)) != 1:
        return None
    uses = [*(loop.node for loop in index.step_loops), *index.names.loads_of(target)]
    for use in uses:
        loops = [node for node in index.tree.ancestors(use) if isinstance(node, LOOPS)]
        outer = loops[-1] if loops else None
        if isinstance(outer, ast.For) and index.function_of(outer) is function and _counts(ctx, outer):
            return outer
    return None


def _counts(ctx: FileContext, loop: ast.For) -> bool:
    """``for epoch in range(10)``, ``for epoch in tqdm(range(10))``"""
    counter = loop.iter
    if isinstance(counter, ast.Call) and counter.args and isinstance(counter.args[0], ast.Call):
        counter = counter.args[0]
    name = ctx.index.qualified_name(counter.func) if isinstance(counter, ast.Call) else None
    return name in ("builtins.range", "tqdm.trange") and isinstance(loop.target, ast.Name)
