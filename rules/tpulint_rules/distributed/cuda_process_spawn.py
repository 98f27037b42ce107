"""Processes started for the GPUs of a machine: none start on a TPU machine."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import FUNCTIONS, FunctionNode
from tpulint.semantic.processes.launches import Launch
from tpulint_rules.distributed._own_device import is_for_several
from tpulint_rules.distributed._xla_launch import xla_launch

_GPU_WORDS = r"nccl|torch\.cuda|\.cuda[.(]|[\"']cuda|device_ids"
_NONE_START = (
    "`torch.multiprocessing` starts one process per GPU: none on a TPU machine, so nothing trains and the script ends "
    "without an error; start them with `torch_xla.launch`"
)
_LEFT_OUT = (
    "`torch.multiprocessing` starts one process per GPU: none on a TPU machine, so this branch is left out; start one "
    "for each chip with `torch_xla.launch`"
)
_NOT_SHARED = (
    "processes that `torch.multiprocessing` starts do not share out the chips of a TPU machine; start them with "
    "`torch_xla.launch`"
)
_BY_HAND = (
    "a process started by hand does not know which chip of a TPU machine is its own; start all of them with "
    "`torch_xla.launch`"
)
_BY_POOL = (
    "each process of a pool claims all chips of a TPU machine, which one process alone can have; train in one after "
    "another, or start them with `torch_xla.launch`"
)
_XLA_WORDS = r"torch_xla\.device\(|xla_device\("


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for launch in index.launches.launches:
        if launch.is_xla:
            continue
        wanted = launch.arguments.get("nprocs")
        if wanted is not None and index.device_counts.is_count(wanted):
            certain = index.device_counts.is_zero(wanted)
            certainty = Certainty.CERTAIN if certain else Certainty.LIKELY
            message = _LEFT_OUT if is_for_several(ctx, launch.call) else _NONE_START
            yield ctx.finding(launch.call, message, xla_launch(ctx, launch, per_gpu=certain), certainty=certainty)
        elif _is_for_gpus(ctx) or _joins_xla(ctx, launch):
            # with a number of processes of its own, only the rest of the file tells whether they are to use GPUs
            fix = xla_launch(ctx, launch, per_gpu=False)
            yield ctx.finding(launch.call, _NOT_SHARED, fix, certainty=Certainty.LIKELY)
        elif _joins_elsewhere(ctx, launch):
            yield ctx.finding(launch.call, _NOT_SHARED, certainty=Certainty.LIKELY)

    for call, functions in index.launches.started_by_hand():
        is_for_gpus = any(_trains(ctx, function) for function in functions) and index.mentions(_GPU_WORDS)
        if is_for_gpus or _trains_elsewhere(ctx, call):
            yield ctx.finding(call, _BY_HAND, certainty=Certainty.LIKELY)
    for call, functions in index.launches.run_in_pools():
        # Told once it is ported, too: the fixes of other rules leave the pool as it is.
        on_device = index.mentions(_GPU_WORDS) or index.mentions(_XLA_WORDS)
        if on_device and any(_trains(ctx, function) for function in functions):
            yield ctx.finding(call, _BY_POOL, certainty=Certainty.LIKELY)


def _is_for_gpus(ctx: FileContext) -> bool:
    """Whether the file uses GPUs and knows no other way to start processes for devices."""
    return ctx.index.mentions(_GPU_WORDS) and not ctx.index.mentions(r"\brpc\b|\b(xla|XLA|torch_xla)\b")


def _joins_xla(ctx: FileContext, launch: Launch) -> bool:
    """Whether the processes join a group of XLA, and no other launch of the file is meant to start them for that."""
    index = ctx.index
    if any(other.is_xla for other in index.launches.launches):
        return False
    run = index.launches.closure(launch.functions)
    joins = [join for join in index.process_groups.joins if join.is_xla]
    return any(index.tree.encloses(function, join.call) for join in joins for function in run)


def _joins_elsewhere(ctx: FileContext, launch: Launch) -> bool:
    """Whether the processes run a function of another file, which joins a group of the device."""
    function = launch.arguments.get("fn")
    found = None if launch.functions or function is None else ctx.index.imported.definition(function)
    return found is not None and found.file.process_groups.on_device


def _trains_elsewhere(ctx: FileContext, started: ast.Call) -> bool:
    """``Process(target=start)`` of a function that another file defines, which joins a group of the device."""
    target = next((item.value for item in started.keywords if item.arg == "target"), None)
    found = None if target is None else ctx.index.imported.definition(target)
    if found is None or not isinstance(found.node, FUNCTIONS):
        return False
    groups = found.file.process_groups
    return groups.on_device and any(found.file.tree.encloses(found.node, join.call) for join in groups.joins)


def _trains(ctx: FileContext, function: FunctionNode) -> bool:
    """Whether a function joins a process group of GPUs or holds a training loop."""
    groups = ctx.index.process_groups
    joined = any(groups.on_device and ctx.index.tree.encloses(function, join.call) for join in groups.joins)
    return (
        joined
        or groups.of_device_in(function)
        or any(ctx.index.tree.encloses(function, loop.node) for loop in ctx.index.step_loops)
    )
