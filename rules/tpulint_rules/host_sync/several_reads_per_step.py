"""Several transfers behind the step boundary where one would do."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity
from tpulint.semantic import Read, SemanticIndex, Step, Use
from tpulint.semantic.reads.batched_reads import ReadGroup
from tpulint.semantic.reads.fetches import Fetch, value_key
from tpulint.semantic.reads.item_reads import ItemReads, find_item_reads
from tpulint.semantic.reads.lone_reads import lone_reads, reads_of_each
from tpulint_rules.host_sync._device_values import torch_text
from tpulint_rules.host_sync._tuple_lines import tuple_line, width_at
from tpulint_rules.host_sync._value_names import value_name
from tpulint_rules.host_sync.tensor_read_in_step_loop import caller_of, costly_reads, reads_kept_elsewhere

REASON = "The numbers are stacked as one dtype, and a tensor that was printed whole is printed as a number."
_IN_FUNCTION = "Stack them in front of the boundary, in the function that comes to it, and read what it returns once."
_PORTED = ("torch_xla", "tpulint_runtime")
"""Words of every file with a step boundary of its own."""
_OF_EACH = "Keep the tensors and read them where they are shown, or stack them in front of the boundary."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every read of a turn, where there are at least two behind the boundary."""
    index = ctx.index
    for called in index.steps_called:
        yield from _lone_reads(ctx, called, [], is_fetched=False)
        yield from _reads_of_each(ctx, called, [])
    if not index.source.has_any(_PORTED):
        return  # what comes to the boundary of another file alone
    for loop in index.regions.evaluation_loops:
        group = index.batched_reads.of(loop)
        if group is not None:
            yield from _reads_of_group(ctx, group, "evaluation batch")
    for step in index.steps:
        items = find_item_reads(index, step)
        yield from _reads_of_items(ctx, items)
        rare = index.batched_reads.now_and_then(step)
        yield from _reads_now_and_then(ctx, rare)
        group = index.batched_reads.of(step)
        groups = [*([] if group is None else [group]), *index.batched_reads.around_calls(step)]
        for group in groups:
            yield from _reads_of_group(ctx, group, "step")
        served = [read for group in (*groups, *rare) for read in group.reads]
        served += [read for one in items for read in one.reads]
        is_fetched = bool(groups or items) or index.batched_reads.are_fetched(step)
        yield from _lone_reads(ctx, step, served, is_fetched=is_fetched)
        yield from _reads_of_each(ctx, step, served)


def _reads_of_group(ctx: FileContext, group: ReadGroup, turn: str) -> Iterator[Finding]:
    fix = ctx.fix("Fetch the values together", Applicability.UNSAFE, REASON, Scope.EXPRESSION)
    fetch_together(fix, ctx.index, group)
    for read in group.reads:
        text = f"`{short(ctx.text(read.tensor))}`"
        fetch = group.fetch
        known = fetch is not None and not fetch.is_in_block and value_key(read.tensor) in fetch.values
        message = (
            f"{text} is fetched once more in every {turn}"
            if known
            else f"{text} is one of {len(group.reads)} values fetched one by one in every {turn}"
        )
        certainty = Certainty.CERTAIN if read.certain else Certainty.LIKELY
        yield ctx.finding(read.node, message, fix, certainty=certainty)


def _reads_now_and_then(ctx: FileContext, groups: Sequence[ReadGroup]) -> Iterator[Finding]:
    """Reads that are made together, but not in every step."""
    for group in groups:
        fix = ctx.fix("Fetch the values together", Applicability.UNSAFE, REASON, Scope.EXPRESSION)
        fetch_together(fix, ctx.index, group)
        count = len(group.reads)
        for read in group.reads:
            yield ctx.finding(
                read.node,
                f"`{short(ctx.text(read.tensor))}` is one of {count} values fetched one by one in some steps",
                fix,
                severity=Severity.INFO,
                certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
            )


def _lone_reads(ctx: FileContext, loop: Step, served: Sequence[Read], *, is_fetched: bool) -> Iterator[Finding]:
    """Reads that no fix brings together: what a call returns that comes to the boundary would be a graph of its own.

    One is the price of knowing anything; beside others that are fetched, it is one too many.
    """
    reads = lone_reads(ctx.index, loop, served)
    if len(reads) + is_fetched > 1:
        elsewhere = reads_kept_elsewhere(ctx.index)
        told = {read.node for read, _, _ in costly_reads(ctx, loop, elsewhere)}
        reads = [read for read in reads if read.node not in told | elsewhere]
    for read in reads if len(reads) + is_fetched > 1 else ():
        count, what = len(reads) + len(served), short(ctx.text(read.tensor))
        yield ctx.finding(
            read.node,
            f"`{what}` is one of {count} values fetched one by one in every step"
            if count > 1
            else f"`{what}` is fetched by itself in every step, beside others that are fetched together",
            certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
            help=_IN_FUNCTION,
        )


def _reads_of_each(ctx: FileContext, loop: Step, served: Sequence[Read]) -> Iterator[Finding]:
    """Reads in a loop over values, each of which is a transfer: a meter for each of the losses."""
    found = reads_of_each(ctx.index, loop, served)
    elsewhere = reads_kept_elsewhere(ctx.index) if found else set()
    told = {read.node for read, _, _ in costly_reads(ctx, loop, elsewhere)} if found else set()
    for read, dealer in found:
        if read.node not in told | elsewhere:
            what, values = short(ctx.text(read.tensor)), short(ctx.text(dealer.iter))
            yield ctx.finding(
                read.node,
                f"`{what}` is fetched for each of `{values}` by itself, in every step{caller_of(loop)}",
                certainty=Certainty.LIKELY,
                help=_OF_EACH,
            )


def _reads_of_items(ctx: FileContext, found: Sequence[ItemReads]) -> Iterator[Finding]:
    """Tensors of a container that are read one by one."""
    for items in found:
        fix = ctx.fix("Fetch the values together", Applicability.UNSAFE, REASON, Scope.EXPRESSION)
        fetch_items(fix, ctx.index, items)
        for read in items.reads:
            yield ctx.finding(
                read.node,
                f"the values of `{short(ctx.text(items.container))}` are fetched one by one in every step",
                fix,
                certainty=Certainty.CERTAIN if read.certain else Certainty.LIKELY,
            )


def fetch_items(fix: FixBuilder, index: SemanticIndex, items: ItemReads) -> None:
    """All tensors of a container stacked in front of the boundary, and their numbers gone through behind it."""
    torch, container = torch_text(fix, index, items.boundary), index.text(items.container)
    tensors = f"{container}.values()" if items.method else container
    stack = index.names.fresh("step_values", items.boundary)
    value = "value" if container != "value" else "item"
    listed = f"[{value}.reshape(()) for {value} in {tensors}]"
    if items.are_scalars:
        listed = f"list({tensors})" if items.method else tensors
    fix.insert_before(items.boundary, f"{stack} = {torch}.stack({listed}).detach()")
    numbers = f"{stack}.tolist()"
    pairs = f"zip({container}, {numbers})"
    node = items.node
    header = node if isinstance(node, ast.For) else node.generators[0]
    if (
        isinstance(node, ast.ListComp | ast.GeneratorExp)
        and items.reads[0].node is node.elt
        and items.method != "items"
    ):
        # The parentheses of a call belong to the generator in it.
        fix.replace(node, f"({numbers})" if isinstance(node, ast.GeneratorExp) else numbers)
    elif isinstance(node, ast.DictComp) and _is_same_dict(node, header, items.reads[0]):
        fix.replace(node, f"dict({pairs})")
    else:
        fix.replace(header.iter, pairs if items.method == "items" else numbers)
        for read in items.reads:
            fix.replace(read.node, index.text(read.tensor))


def _is_same_dict(node: ast.DictComp, header: ast.For | ast.comprehension, read: Read) -> bool:
    """Whether a comprehension gives the dict it goes through, with numbers for tensors."""
    if not isinstance(header.target, ast.Tuple) or node.value is not read.node:
        return False
    key = header.target.elts[0]
    return isinstance(key, ast.Name) and isinstance(node.key, ast.Name) and node.key.id == key.id


def fetch_together(fix: FixBuilder, index: SemanticIndex, group: ReadGroup) -> None:
    """One transfer right behind the boundary; of several tensors, stacked in front of it, so that it costs no graph."""
    values = {} if group.fetch is None else dict(group.fetch.values)
    given = {value_key(tensor): statement for statement, tensor in group.names.items()}
    for tensor in group.tensors:
        values[value_key(tensor)] = _name_for(fix, index, tensor, given.get(value_key(tensor)), values)
    names = [values[value_key(tensor)] for tensor in group.tensors]
    if group.fetch is not None:
        _extend(fix, index, group, group.fetch, names)
    elif len(names) == 1:
        value = fix.text(group.arrays[0].node) if group.arrays else f"{fix.text(group.tensors[0])}.item()"
        _fetch(fix, group, f"{names[0]} = {value}")
    else:
        stack = index.names.fresh("step_values", group.boundary)
        items = _items(fix, index, group)
        torch = torch_text(fix, index, group.boundary)
        width = width_at(fix, group.boundary)
        fix.insert_before(group.boundary, tuple_line(f"{stack} = {torch}.stack(", items, ").detach()", width))
        numbers = f"{stack}.cpu().numpy()" if group.arrays else f"{stack}.tolist()"
        _fetch(fix, group, tuple_line("", names, f" = {numbers}", width))
    is_stacked = group.fetch is not None or len(names) > 1
    for read in group.reads:
        statement = index.statement_of(read.node)
        name = values[value_key(read.tensor)]
        if isinstance(statement, ast.Assign) and statement in group.names and name == _target(statement):
            fix.delete(statement)
        elif (number := _int_argument(index, read)) is not None:
            fix.replace(number, name)
        elif is_stacked and index.number_types.is_integer(read.tensor):
            fix.replace(read.node, f"int({name})")
        else:
            is_python = not group.arrays or read in group.arrays or read.use is Use.LOG
            fix.replace(read.node, name if is_python else f"{name}.item()")


def _fetch(fix: FixBuilder, group: ReadGroup, text: str) -> None:
    """The transfer: right behind the boundary, or at the start of blocks behind it."""
    for first in group.blocks:
        fix.insert_before(first, text)
    if not group.blocks:
        fix.insert_after(group.boundary, text)


def _name_for(
    fix: FixBuilder, index: SemanticIndex, tensor: ast.expr, given: ast.Assign | None, taken: dict[str, str]
) -> str:
    """The variable for the number of a tensor: the one it is given to anyway, or a new one."""
    if given is not None and not fix.has_comment(given):
        return _target(given)
    name = index.names.fresh(f"{value_name(index, tensor)}_value", tensor)
    number = 2
    while name in taken.values():
        name, number = index.names.fresh(f"{value_name(index, tensor)}_value_{number}", tensor), number + 1
    return name


def _extend(fix: FixBuilder, index: SemanticIndex, group: ReadGroup, fetch: Fetch, names: list[str]) -> None:
    """More tensors for a stack that is fetched already, in each turn where it was in some."""
    targets = fetch.statement.targets[0]
    assert isinstance(targets, ast.Tuple)
    if group.tensors:
        items = "".join(f", {item}" for item in _items(fix, index, group))
        fix.insert(index.span(fetch.stack.elts[-1]).end, items)
    if fetch.is_in_block:
        known = [index.text(target) for target in targets.elts]
        width = width_at(fix, group.boundary)
        if fix.has_comment(fetch.statement):
            fix.give_up()
        fix.delete(fetch.statement)
        fix.insert_after(
            group.boundary, tuple_line("", [*known, *names], f" = {index.text(fetch.statement.value)}", width)
        )
    elif group.tensors:
        fix.insert(index.span(targets.elts[-1]).end, "".join(f", {name}" for name in names))


def _items(fix: FixBuilder, index: SemanticIndex, group: ReadGroup) -> list[str]:
    """What is stacked; for what is None in this turn another tensor stands in, whose number nothing reads."""
    known = () if group.fetch is None else group.fetch.stack.elts
    stacked = [f"({fix.text(item)})" if isinstance(item, ast.IfExp) else fix.text(item) for item in known]
    items = [(_item(fix, index, tensor), value_key(tensor) in group.optional) for tensor in group.tensors]
    first = [*stacked, *(item for item, is_optional in items if not is_optional)][0]
    names = [fix.text(tensor) for tensor in group.tensors]
    return [
        f"{first} if {name} is None else {item}" if is_optional else item
        for name, (item, is_optional) in zip(names, items, strict=True)
    ]


def _item(fix: FixBuilder, index: SemanticIndex, tensor: ast.expr) -> str:
    if not index.scalars.is_scalar(tensor):
        return f"{fix.text(tensor)}.reshape(())"
    return index.text(tensor) if isinstance(tensor, ast.BinOp) else fix.text(tensor)


def _target(statement: ast.Assign) -> str:
    target = statement.targets[0]
    return target.id if isinstance(target, ast.Name) else ""


def _int_argument(index: SemanticIndex, read: Read) -> ast.expr | None:
    """What ``int`` is called with where a read is ``int(tensor)`` or ``int(tensor.item())``."""
    if isinstance(read.node, ast.Call) and index.qualified_name(read.node.func) == "builtins.int" and read.node.args:
        return read.node.args[0]
    return None
