"""Processes started for the GPUs of a machine: none start on a TPU machine."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic import FunctionNode
from tpulint.semantic.handovers import Handovers
from tpulint.semantic.launches import Launch

if TYPE_CHECKING:
    from tpulint.context import Folding

_GPU_WORDS = r"nccl|torch\.cuda|\.cuda\(|[\"']cuda|device_ids"
_NONE_START = (
    "`torch.multiprocessing` starts one process per GPU: none on a TPU machine, so nothing trains and the script ends "
    "without an error; start them with `torch_xla.launch`"
)
_NOT_SHARED = (
    "processes that `torch.multiprocessing` starts do not share out the chips of a TPU machine; start them with "
    "`torch_xla.launch`"
)
_BY_HAND = (
    "a process started by hand does not know which chip of a TPU machine is its own; start all of them with "
    "`torch_xla.launch`"
)


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for launch in index.launches.launches:
        if launch.is_xla:
            continue
        wanted = launch.arguments.get("nprocs")
        if wanted is not None and index.device_counts.is_count(wanted):
            certain = index.device_counts.is_zero(wanted)
            certainty = Certainty.CERTAIN if certain else Certainty.LIKELY
            yield ctx.finding(launch.call, _NONE_START, _fix(ctx, launch, per_gpu=certain), certainty=certainty)
        elif index.mentions(_GPU_WORDS) and not index.mentions(r"\brpc\b"):
            # with a number of processes of its own, only the rest of the file tells whether they are to use GPUs
            fix = _fix(ctx, launch, per_gpu=False)
            yield ctx.finding(launch.call, _NOT_SHARED, fix, certainty=Certainty.LIKELY)


    for call, functions in index.launches.started_by_hand():
        if any(_trains(ctx, function) for function in functions) and index.mentions(_GPU_WORDS):
            yield ctx.finding(call, _BY_HAND, certainty=Certainty.LIKELY)


def _trains(ctx: FileContext, function: FunctionNode) -> bool:
    """Whether a function joins a process group of GPUs or holds a training loop."""
    groups = ctx.index.process_groups
    joined = any(groups.on_device and ctx.index.tree.encloses(function, join.call) for join in groups.joins)
    return joined or any(ctx.index.tree.encloses(function, loop.node) for loop in ctx.index.step_loops)


def _fix(ctx: FileContext, launch: Launch, *, per_gpu: bool) -> FixBuilder:
    reason = "torch_xla.launch runs the function in one process per chip, with the index of the process first."
    fix = ctx.fix("Start with `torch_xla.launch`", Applicability.SAFE, reason, Scope.MODULE)
    if not per_gpu:
        fix.lower(Applicability.UNSAFE, "One process per chip is started, however many are asked for here.")
    arguments, call = launch.arguments, launch.call
    join = arguments.get("join")
    if join is not None and not (isinstance(join, ast.Constant) and join.value is True):
        fix.give_up()  # launch() waits for its processes
    if any(arguments.get("start_method") is item for item in call.args):
        fix.give_up()
    fix.rename_callee(call, f"{fix.use('torch_xla', at=call)}.launch")
    gone: list[ast.AST] = [
        next((keyword for keyword in call.keywords if keyword.value is arguments[name]), arguments[name])
        for name in ("nprocs", "join", "daemon") if name in arguments
    ]  # fmt: skip
    handed = Handovers(ctx.index, launch)
    folding = fix.fold(handed.answers)
    if not handed.known or folding.drops(call):
        fix.give_up()  # a process may be told that there are 0 GPUs, or the launch is what happens with one device
        return fix
    if handed.answers:
        fix.lower(Applicability.UNSAFE, "Conditions on the number of GPUs are taken to be met.")
    if any(item.attribute for item in handed.items):
        fix.lower(Applicability.UNSAFE, "The number of processes is set anew in a namespace that other code may fill.")
    _hand_over(ctx, fix, launch, handed, gone, folding)
    own: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    fix.delete_arguments(call, [item for item in own if item in gone])
    statements, passages = handed.unread([*gone, *handed.answers], folding.drops)
    for statement in statements:
        folding.delete(statement)
    for passage in passages:
        fix.delete_parameter(passage.function, passage.parameter)
        for caller, argument in passage.arguments:
            fix.delete_arguments(caller, [argument])
    folding.write()
    return fix


def _hand_over(
    ctx: FileContext, fix: FixBuilder, launch: Launch, handed: Handovers, gone: list[ast.AST], folding: Folding
) -> None:
    """Let the launched functions ask for the number of processes: in the parent, that would start the runtime."""
    launches = ctx.index.launches
    lines: dict[FunctionNode, list[str]] = {}
    dropped: list[ast.expr] = []
    for item in handed.items:
        alone = all(launches.is_only_launched(function, folding.drops) for function, _ in item.parameters)
        if alone and not item.attribute:
            dropped.append(item.item)
            for function, parameter in item.parameters:
                fix.delete_parameter(function, parameter)
        for function, parameter in item.parameters:
            if handed.is_needed(item, function, parameter):
                target = parameter.arg + (f".{item.attribute}" if item.attribute else "")
                xr = fix.use("torch_xla.runtime", alias="xr", at=function.body[0])
                lines.setdefault(function, []).append(f"{target} = {xr}.world_size()")
    for function, assignments in lines.items():
        joins = ctx.index.process_groups.joins
        join = next((join for join in joins if ctx.index.function_of(join.call) is function), None)
        if launches.is_only_launched(function, folding.drops):
            fix.insert_at_start(function, "\n".join(assignments))
        elif join is not None:
            # called directly as well, perhaps under torchrun: there the number is known when the group is joined
            fix.insert_after(ctx.index.statement_of(join.call), "\n".join(assignments))
        elif ctx.index.mentions(r"LOCAL_RANK|[\"']RANK[\"']|env://"):
            fix.give_up()
        else:
            fix.insert_at_start(function, "\n".join(assignments))
    if not dropped:
        return
    passed = launch.arguments["args"]
    kept = [ctx.text(item) for item in launch.passed or () if item not in dropped]
    if kept:
        gone.extend(dropped)
        fix.replace(passed, f"({', '.join(kept)}{',' if len(kept) == 1 else ''})")
    else:
        gone.append(next((keyword for keyword in launch.call.keywords if keyword.value is passed), passed))
