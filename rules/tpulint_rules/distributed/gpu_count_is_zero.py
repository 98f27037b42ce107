"""The number of GPUs where 0, the answer on a TPU machine, does harm."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Severity
from tpulint.records import NamedTuple
from tpulint.semantic.devices.device_counts import COUNTERS
from tpulint.semantic.syntax.variables import last_name
from tpulint_rules.distributed._compared_counts import demands, denials
from tpulint_rules.distributed._lists_for_none import lists_for_none
from tpulint_rules.distributed._number_in_reach import numbers_in_reach
from tpulint_rules.distributed._own_device import choices, count_one, is_for_several, is_shut_out, is_told_with_name
from tpulint_rules.distributed._parts_for_none import parts_for_none
from tpulint_rules.distributed._programs_for_none import programs_for_none
from tpulint_rules.distributed._samplers import sharers
from tpulint_rules.distributed._scaled_in_parent import scale_in_process
from tpulint_rules.distributed._sized_by_none import sized_by_none

_PRODUCTS = {
    r"(?i)(.*_)?(batch_?size|bs)|batch": "batches of no samples",
    r"(?i)(.*_)?(lr|learning_rate)": "with such a learning rate nothing is trained",
}
"""What comes of a number of this name that is multiplied by the number of GPUs."""
_DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)
_HOLDERS = (ast.Dict, ast.List, ast.Tuple, ast.keyword, ast.Return)
_ONE_PROCESS = "One process drives one XLA device; `torch_xla.launch` starts as many as there are devices."


def check(ctx: FileContext) -> Iterator[Finding]:
    counts = ctx.index.device_counts
    yield from _handed_on(ctx)
    yield from _counted_by_variable(ctx)
    if not counts.calls:
        return
    for node in ctx.index.tree.parents:
        divisor = _divisor(node)
        if divisor is not None and (count := _zero_factor(ctx, divisor)) is not None:
            if is_for_several(ctx, divisor) or is_shut_out(ctx, node):
                continue
            message = f"`{ctx.text(count)}` is 0 on a TPU machine: ZeroDivisionError"
            yield ctx.finding(count, message, _count_fix(ctx, count), severity=Severity.ERROR)
        elif isinstance(node, ast.keyword) and node.arg == "num_workers" and _zero_factor(ctx, node.value) is not None:
            message = "there are no GPUs to count on a TPU machine: the loader gets 0 workers and blocks every step"
            yield ctx.finding(node.value, message, count_one(ctx, node.value), severity=Severity.WARNING)
        elif (product := _product(ctx, node)) is not None and _zero_factor(ctx, product.factor) is not None:
            if is_shut_out(ctx, node):
                continue
            count = _zero_factor(ctx, product.factor)
            assert count is not None
            message = f"`{ctx.text(product.factor)}` is 0 on a TPU machine, which has no GPUs: {product.harm}"
            fix = count_one(ctx, product.factor) or scale_in_process(ctx, node, count)
            yield ctx.finding(product.factor, message, fix, severity=Severity.ERROR)
        elif isinstance(node, ast.Call) and (told := sharers(ctx.index, node)) is not None:
            yield from _shared_by_none(ctx, told)
        elif isinstance(node, ast.Call) and (sized := sized_by_none(ctx, node)) is not None:
            if not is_shut_out(ctx, node):
                message = f"`{ctx.text(sized.number)}` is 0 on a TPU machine, which has no GPUs: {sized.harm}"
                yield ctx.finding(sized.number, message, count_one(ctx, sized.number), severity=Severity.ERROR)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from demands(ctx, node)
        elif isinstance(node, ast.UnaryOp):
            yield from denials(ctx, node)
    yield from _starting_none(ctx)
    yield from parts_for_none(ctx)
    yield from lists_for_none(ctx)
    yield from programs_for_none(ctx)
    for call in filter(partial(is_told_with_name, ctx), counts.calls):
        message = f"`{ctx.text(call)}` is 0 on a TPU machine, beside the name of a device that is there"
        yield ctx.finding(call, message, _count_fix(ctx, call), severity=Severity.WARNING)
    for call, test in choices(ctx):
        message = (
            f"`{ctx.text(call)}` is 0 on a TPU machine, and `{ctx.text(test)}` decides by it: "
            "this trains on the host CPU without a word"
        )
        related = ((ctx.index.span(test), "the device depends on the number here"),)
        yield ctx.finding(call, message, count_one(ctx, call), severity=Severity.ERROR, related=related)
    for end, test, fix in numbers_in_reach(ctx):
        message = (
            f"`{ctx.text(end)}` is 0 on a TPU machine, and no GPU's number is below it: "
            "this trains on the host CPU without a word"
        )
        yield ctx.finding(test, message, fix, severity=Severity.ERROR)


def _handed_on(ctx: FileContext) -> Iterator[Finding]:
    """``resolvers = {"devices": torch.cuda.device_count}``: the function itself, for others to call."""
    for node, name in ctx.index.references(*COUNTERS):
        holder = ctx.index.parent(node)
        if isinstance(holder, ast.Call):
            is_given = node in holder.args and not (ctx.index.qualified_name(holder.func) or "").startswith("builtins.")
        elif isinstance(holder, ast.Assign):
            is_given = holder.value is node
        else:
            is_given = isinstance(holder, _HOLDERS)
        if name in COUNTERS and is_given:
            message = f"who calls `{ctx.text(node)}` gets 0 on a TPU machine, which has no GPUs"
            yield ctx.finding(node, message, count_one(ctx, node), severity=Severity.WARNING)


def _counted_by_variable(ctx: FileContext) -> Iterator[Finding]:
    """``len(os.environ["CUDA_VISIBLE_DEVICES"].split(","))``: on a TPU machine nobody sets the variable."""
    if not ctx.index.mentions(r"\btorch\b"):
        return
    for call in ctx.index.environment.visible_counts:
        message = "nothing sets `CUDA_VISIBLE_DEVICES` on a TPU machine, and to count the GPUs in it raises"
        fix = count_one(ctx, call, (call,))
        yield ctx.finding(call, message, fix, severity=Severity.ERROR, certainty=Certainty.LIKELY)


def _starting_none(ctx: FileContext) -> Iterator[Finding]:
    """``add_argument("--world-size", default=torch.cuda.device_count())`` of a loop that starts so many processes.

    The program has a way for one, ``if args.world_size == 1: main(args)``, where it compares the number.
    """
    variables = ctx.index.devices.flow.variables
    for call in ctx.index.device_counts.calls:
        keyword = ctx.index.parent(call)
        declares = ctx.index.parent(keyword) if isinstance(keyword, ast.keyword) and keyword.arg == "default" else None
        name = variables.option_name(declares) if isinstance(declares, ast.Call) else None
        loads = [] if name is None else variables.loads(("attribute", None, name))
        if any(_starts_so_many(ctx, load) for load in loads):
            has_way = any(_asks_for_one(ctx.index.parent(load)) for load in loads)
            message = f"`{ctx.text(call)}` is 0 on a TPU machine: no process is started, and nothing is trained"
            fix = ctx.fix("Go the way of one process", Applicability.UNSAFE, _ONE_PROCESS) if has_way else None
            if fix is not None:
                fix.replace(call, "1")
            yield ctx.finding(call, message, fix, severity=Severity.ERROR)


def _starts_so_many(ctx: FileContext, load: ast.expr) -> bool:
    """``for rank in range(args.world_size): Process(...)``"""
    counted = ctx.index.parent(load)
    if not isinstance(counted, ast.Call) or ctx.index.qualified_name(counted.func) != "builtins.range":
        return False
    loop = ctx.index.parent(counted)
    if isinstance(loop, ast.comprehension):
        loop = ctx.index.parent(loop)
    elif not isinstance(loop, ast.For):
        return False
    return loop is not None and any(
        last_name(item.func) == "Process" for item in ctx.index.tree.nodes_in(loop, ast.Call)
    )


def _asks_for_one(comparison: ast.AST | None) -> bool:
    """``args.world_size == 1``, ``args.world_size > 1``"""
    if not isinstance(comparison, ast.Compare) or len(comparison.ops) != 1:
        return False
    is_one = isinstance(comparison.comparators[0], ast.Constant) and comparison.comparators[0].value == 1
    return is_one and isinstance(comparison.ops[0], ast.Eq | ast.NotEq | ast.Gt | ast.LtE)


def _divisor(node: ast.AST) -> ast.expr | None:
    """What something is divided by."""
    if isinstance(node, ast.AugAssign):
        return node.value if isinstance(node.op, _DIVISIONS) else None
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, _DIVISIONS):
        return None
    left = node.left
    text = isinstance(left, ast.JoinedStr) or (isinstance(left, ast.Constant) and isinstance(left.value, str))
    return None if text else node.right  # "%d GPUs" % n is no division


class _Product(NamedTuple):
    """A number that is multiplied, of which the name tells what it is for."""

    factor: ast.expr
    """The product, or what ``batch_size *= factor`` multiplies by."""
    harm: str


def _product(ctx: FileContext, node: ast.AST) -> _Product | None:
    if not isinstance(node, ast.AugAssign | ast.BinOp) or not isinstance(node.op, ast.Mult):
        return None
    factor = node if isinstance(node, ast.BinOp) else node.value
    name = _name_given(ctx.index.parent(factor), factor)
    harms = (harm for names, harm in _PRODUCTS.items() if name is not None and re.fullmatch(names, name))
    return next((_Product(factor, harm) for harm in harms), None)


def _name_given(holder: ast.AST | None, value: ast.expr) -> str | None:
    """The name that a statement, a dictionary or a call gives a value."""
    if isinstance(holder, ast.keyword):
        return holder.arg
    if isinstance(holder, ast.Dict):
        key = holder.keys[holder.values.index(value)] if value in holder.values else None
        return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
    if isinstance(holder, ast.Assign) and len(holder.targets) == 1:
        return last_name(holder.targets[0])
    return last_name(holder.target) if isinstance(holder, ast.AugAssign) else None


def _zero_factor(ctx: FileContext, node: ast.expr) -> ast.expr | None:
    """The number of GPUs, alone or in a product: ``batch % (torch.cuda.device_count() * classes)``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _zero_factor(ctx, node.left) or _zero_factor(ctx, node.right)
    counts = ctx.index.device_counts
    return node if counts.is_zero(node) or counts.is_zero_product(node) else None


def _shared_by_none(ctx: FileContext, told: ast.expr) -> Iterator[Finding]:
    """``DistributedSampler(data, num_replicas=n, rank=rank)``; to start processes for TPUs comes first."""
    launches = ctx.index.launches
    launch = launches.launch_of(told)
    is_early = bool(launches) and (launch is None or not launch.is_xla)
    if is_early or (count := _zero_factor(ctx, told)) is None or is_shut_out(ctx, told):
        return
    message = f"`{ctx.text(count)}` is 0 on a TPU machine, and a sampler for so many processes raises ValueError"
    yield ctx.finding(count, message, _count_fix(ctx, count), severity=Severity.ERROR)


def _count_fix(ctx: FileContext, node: ast.expr) -> FixBuilder | None:
    """``xr.local_device_count()``, where the process has its device already; 1 where it is the only process."""
    call = _asking(ctx, node)
    launch = ctx.index.launches.launch_of(call) if call is not None else None
    if call is None or not ((launch is not None and launch.is_xla) or _is_behind_join(ctx, call)):
        return count_one(ctx, node)
    reason = "It counts the XLA devices of this machine, and starts the XLA runtime if nothing has so far."
    fix = ctx.fix("Count XLA devices", Applicability.UNSAFE, reason)
    fix.replace(call, f"{fix.use('torch_xla.runtime', alias='xr', at=call)}.local_device_count()")
    return fix


def _asking(ctx: FileContext, node: ast.expr) -> ast.Call | None:
    """The call that asks for the number, in the function where it is used."""
    if isinstance(node, ast.Name):
        bindings = ctx.index.flow.reaching(node)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        if value is None or bindings[0].path or ctx.index.function_of(value) is not ctx.index.function_of(node):
            return None
        node = value
    return node if isinstance(node, ast.Call) else None


def _is_behind_join(ctx: FileContext, node: ast.expr) -> bool:
    function = ctx.index.function_of(node)
    return any(
        ctx.index.function_of(call) is function and ctx.index.span(call).end <= ctx.index.span(node).start
        for call in ctx.index.calls_to("torch.distributed.init_process_group")
    )
