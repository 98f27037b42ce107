"""A launch of torch.multiprocessing rewritten for torch_xla, with what its processes are told."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import FUNCTIONS, FunctionNode
from tpulint.semantic.processes.handovers import SAYS_HOW_MANY, Handover, Handovers
from tpulint.semantic.processes.launches import SPAWN, Launch
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.value import is_true

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.context import Folding

_COUNTS = {"init_process_group": 3, "DistributedSampler": 1}
"""What is given the number of all processes, and where among its arguments."""
_OF_MACHINE = r"(?i)per_?(?:node|host|machine)|local"


def xla_launch(ctx: FileContext, launch: Launch, *, per_gpu: bool) -> FixBuilder:
    """The fix that starts the processes with ``torch_xla.launch``."""
    if ctx.portable:
        return _portable_launch(ctx, launch)
    reason = "torch_xla.launch runs the function in one process per chip, with the index of the process first."
    fix = ctx.fix("Start with `torch_xla.launch`", Applicability.SAFE, reason, Scope.MODULE)
    if not per_gpu:
        fix.lower(Applicability.UNSAFE, "One process per chip is started, however many are asked for here.")
    arguments, call = launch.arguments, launch.call
    join = arguments.get("join")
    if join is not None and not is_true(join):
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
    if not handed.known or handed.makings or folding.drops(call) or _is_one_way_of_two(ctx, call, handed):
        # a process may be told that there are 0 GPUs, or get a part of what was made for 0 processes, or the launch is
        # what happens with one device
        fix.give_up()
        return fix
    if handed.answers:
        fix.lower(Applicability.UNSAFE, "Conditions on the number of GPUs are taken to be met.")
    if any(item.attribute for item in handed.items):
        fix.lower(Applicability.UNSAFE, "The number of processes is set anew in a namespace that other code may fill.")
    _hand_over(ctx, fix, launch, handed, gone, folding)
    shares = [statement for item in handed.items for statement in handed.shares(item)]
    for statement in shares:
        folding.delete(statement)
    own: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    fix.delete_arguments(call, [item for item in own if item in gone])
    statements, passages = handed.unread([*gone, *handed.answers, *shares], folding.drops)
    for statement in statements:
        folding.delete(statement)
    for passage in passages:
        fix.delete_parameter(passage.function, passage.parameter)
        for caller, argument in passage.arguments:
            fix.delete_arguments(caller, [argument])
    folding.write()
    return fix


def _is_one_way_of_two(ctx: FileContext, call: ast.Call, handed: Handovers) -> bool:
    """Whether another condition than the number of devices chooses the launch, below a condition on that number.

    With the outer one taken to be met, its other branch would be gone, and what the inner one does instead would run.
    """
    is_chosen = False
    for ancestor in ctx.index.tree.ancestors(call):
        if isinstance(ancestor, FUNCTIONS):
            break
        if isinstance(ancestor, ast.If) and any(ctx.index.tree.encloses(ancestor.test, one) for one in handed.answers):
            return is_chosen
        is_chosen = is_chosen or (isinstance(ancestor, ast.If) and bool(ancestor.orelse))
    return False


def _portable_launch(ctx: FileContext, launch: Launch) -> FixBuilder:
    """The same launch through the runtime, whose processes ask how many they are."""
    reason = "On CUDA nothing changes; without GPUs there is one process for each chip, or one at all."
    fix = ctx.fix("Start through the runtime", Applicability.SAFE, reason, Scope.MODULE)
    join = launch.arguments.get("join")
    handed = Handovers(ctx.index, launch)
    waits = join is None or is_true(join)
    if launch.launcher != SPAWN or not waits or not handed.known or handed.answers:
        fix.give_up()  # without GPUs there are none to count in a condition on the way to the launch
        return fix
    fix.rename_callee(launch.call, fix.emit.runtime("spawn", launch.call))
    if any(item.attribute for item in handed.items):
        reason = "The number of processes is set anew in a namespace that other code may fill."
        fix.lower(Applicability.UNSAFE, reason)
    _ask_how_many(ctx, fix, handed, lambda _: False)
    return fix


def _hand_over(
    ctx: FileContext, fix: FixBuilder, launch: Launch, handed: Handovers, gone: list[ast.AST], folding: Folding
) -> None:
    """Let the launched functions ask for the number of processes: in the parent, that would start the runtime."""
    launches = ctx.index.launches
    gone_parameters: dict[FunctionNode, list[ast.arg]] = {}
    dropped: list[ast.expr] = []
    for item in handed.items:
        alone = all(launches.is_only_launched(function, folding.drops) for function, _ in item.parameters)
        if alone and not item.attribute:
            dropped.append(item.item)
            for function, parameter in item.parameters:
                gone_parameters.setdefault(function, []).append(parameter)
    for function, parameters in gone_parameters.items():
        fix.delete_parameters(function, parameters)
    _ask_how_many(ctx, fix, handed, folding.drops)
    if not dropped:
        return
    passed = launch.arguments["args"]
    kept = [ctx.text(item) for item in launch.passed or () if item not in dropped]
    if kept:
        gone.extend(dropped)
        fix.replace(passed, f"({', '.join(kept)}{',' if len(kept) == 1 else ''})")
    else:
        gone.append(next((keyword for keyword in launch.call.keywords if keyword.value is passed), passed))


def _ask_how_many(ctx: FileContext, fix: FixBuilder, handed: Handovers, drops: Callable[[ast.AST], bool]) -> None:
    """Let launched functions ask for the number of processes wherever they use it."""
    lines: dict[FunctionNode, list[str]] = {}
    for item in handed.items:
        for function, parameter in item.parameters:
            if handed.is_needed(item, parameter):
                target = parameter.arg + (f".{item.attribute}" if item.attribute else "")
                if not ctx.portable and _is_of_machine(ctx, function, item.attribute or parameter.arg):
                    runtime = fix.use("torch_xla.runtime", alias="xr", at=function.body[0])
                    asked = f"{runtime}.local_device_count()"
                else:
                    asked = fix.emit.world_size(function.body[0], target)
                shares = [] if ctx.portable else [ctx.text(statement) for statement in handed.shares(item)]
                lines.setdefault(function, []).extend([f"{target} = {asked}", *shares])
    for function, assignments in lines.items():
        joins = ctx.index.process_groups.joins
        join = next((join for join in joins if ctx.index.function_of(join.call) is function), None)
        if ctx.index.launches.is_only_launched(function, drops):
            fix.insert_at_start(function, "\n".join(assignments))
            continue
        place = None if join is None else ctx.index.statement_of(join.call)
        behind = place is not None and not _decides(ctx, handed, function, place)
        by_torchrun = ctx.index.mentions(r"LOCAL_RANK|[\"']RANK[\"']|env://")
        if place is not None and behind and (by_torchrun or not _makes_rank_before(ctx, handed, function, place)):
            # called directly as well, perhaps under torchrun: there the number is known when the group is joined
            fix.insert_after(place, "\n".join(assignments))
        elif by_torchrun:
            fix.give_up()
        else:
            fix.insert_at_start(function, "\n".join(assignments))


def _makes_rank_before(ctx: FileContext, handed: Handovers, function: FunctionNode, join: ast.stmt) -> bool:
    """``rank = node * n_gpus + gpu`` ahead of the group that is joined."""
    index, names = ctx.index, {known.arg for item in handed.items for _, known in item.parameters if not item.attribute}
    first = [*function.args.posonlyargs, *function.args.args][:1]
    loads = [node for name in names for node in index.tree.names_called(name) if index.function_of(node) is function]
    early = [load for load in loads if index.span(load).end <= index.span(join).start]
    return any(_is_part_of_rank(index.tree, load, first[0]) for load in early)


def _decides(ctx: FileContext, handed: Handovers, function: FunctionNode, join: ast.stmt) -> bool:
    """Whether the number that a function is handed decides if it joins: ``alone = n < 2`` and ``if not alone: join()``.

    Without it, 0 on a TPU machine, no process would.
    """
    index = ctx.index
    numbers = [(item, known.arg) for item in handed.items for owner, known in item.parameters if owner is function]
    tests = [
        ancestor.test
        for ancestor in index.tree.ancestors(join)
        if isinstance(ancestor, ast.If) and index.tree.encloses(function, ancestor)
    ]
    nodes = [node for test in tests for node in (test, *index.tree.inside(test))]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    values = [binding.value for name in names for binding in index.flow.reaching(name) if binding.kind == "assign"]
    nodes += [node for value in values if value for node in index.tree.inside(value)]
    return any(_is_number(ctx, node, item, parameter) for node in nodes for item, parameter in numbers)


def _is_number(ctx: FileContext, node: ast.AST, item: Handover, parameter: str) -> bool:
    """Whether a part of a test is the number that is handed, or an entry of its namespace that is made of it."""
    if isinstance(node, ast.Name):
        user = ctx.index.parent(node)
        return node.id == parameter and not (item.attribute and isinstance(user, ast.Attribute))
    if not item.attribute or not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return node.value.id == parameter and (node.attr == item.attribute or _is_made_of(ctx, node, item.attribute))


def _is_made_of(ctx: FileContext, entry: ast.Attribute, number: str) -> bool:
    """``args.alone = args.world_size < 2`` behind ``args.world_size = n * args.world_size``, but not before it."""
    counts, span, function_of = ctx.index.device_counts, ctx.index.span, ctx.index.function_of
    for store in counts.attribute_stores(entry):
        for node in ctx.index.tree.inside(store.value):
            if isinstance(node, ast.Attribute) and node.attr == number:
                counted = [one for one in counts.attribute_stores(node) if counts.is_multiple(one.value)]
                counted += [one for one in counts.attribute_stores(node) if counts.is_count(one.value)]
                here = [one for one in counted if function_of(one) is function_of(store)]
                if len(here) < len(counted) or any(span(one).start < span(store).start for one in here):
                    return True
    return False


def _is_of_machine(ctx: FileContext, function: FunctionNode, count: str) -> bool:
    """Whether a number is that of one machine of several: ``n_gpus_per_node``, or ``rank = node * n_gpus + gpu``.

    One that is given for that of all processes is theirs, whatever its name: there is one machine then.
    """
    tree = ctx.index.tree
    loads = [*tree.names_called(count), *tree.attributes_called(count)]
    if any(_counts_processes(tree, load) for load in loads):
        return False
    first = [*function.args.posonlyargs, *function.args.args][:1]
    mine = [load for load in loads if first and tree.function_of(load) is function]
    return re.search(_OF_MACHINE, count) is not None or any(_is_part_of_rank(tree, load, first[0]) for load in mine)


def _counts_processes(tree: SyntaxTree, load: ast.AST) -> bool:
    """Whether a number is given for that of all processes: ``world_size=n``, ``DistributedSampler(data, n, rank)``."""
    user = tree.parents[load]
    if isinstance(user, ast.keyword):
        return user.arg in SAYS_HOW_MANY
    at = _COUNTS.get(last_name(user.func)) if isinstance(user, ast.Call) else None
    return at is not None and isinstance(user, ast.Call) and len(user.args) > at and user.args[at] is load


def _is_part_of_rank(tree: SyntaxTree, load: ast.AST, process: ast.arg) -> bool:
    """``node * n_gpus + gpu``"""
    product = tree.parents[load]
    rank = tree.parents[product]
    if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
        return False
    if not isinstance(rank, ast.BinOp) or not isinstance(rank.op, ast.Add):
        return False
    return any(isinstance(side, ast.Name) and side.id == process.arg for side in (rank.left, rank.right))
