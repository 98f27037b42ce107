"""Elements of a device tensor that a loop within a step reads one by one: each place is a graph of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import LOOPS, Kind, LoopNode
from tpulint.semantic.values.element_values import WITH_PLACES
from tpulint.semantic.values.mapped_elements import mapped_elements

_COUNTERS = ("builtins.range", "builtins.enumerate", "tqdm.trange")
_SEVERAL = ("split", "chunk", "unbind", "items", "values", "keys", "meshgrid", "max", "min", "sort", "topk")
"""Operations with several results."""
_AT_ONCE = "Compute it of the whole tensor on the device: `x == 0`."
_DEPTH = 6
_WRAPPERS = ("builtins.enumerate", "builtins.zip", "builtins.reversed", "tqdm.tqdm")


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists:
        return
    groups: dict[tuple[LoopNode | ast.comprehension | ast.Call, str], list[ast.expr]] = {}
    nodes: list[ast.For | ast.Subscript] = [*index.turn_code.nodes(ast.For), *index.turn_code.nodes(ast.Subscript)]
    for node in nodes:
        if index.turn_code.turn_of(node) is None:
            continue
        loop: LoopNode | None
        if isinstance(node, ast.For):
            loop, tensor = node, _gone_through(ctx, node.iter, node.target)
        else:
            loop, tensor = _counting_loop(ctx, node), node.value
        if loop is None or tensor is None or loop in index.turn_code.loops:
            continue
        if index.is_device_tensor(tensor) and _is_read(ctx, node, loop):
            shown = node.iter if isinstance(node, ast.For) else node
            groups.setdefault((loop, ctx.text(tensor)), []).append(shown)
    comprehensions: list[ast.ListComp | ast.GeneratorExp] = [*index.turn_code.nodes(ast.ListComp)]
    for made in (*comprehensions, *index.turn_code.nodes(ast.GeneratorExp)):
        first = made.generators[0]
        tensor = _gone_through(ctx, first.iter, first.target)
        if tensor is None or index.turn_code.turn_of(made) is None or not index.is_device_tensor(tensor):
            continue
        if _are_read(ctx, first.target, (made.elt, *first.ifs)):
            groups.setdefault((first, ctx.text(tensor)), []).append(first.iter)
    for call, tensor in mapped_elements(index):
        if index.turn_code.turn_of(call) is not None and index.is_device_tensor(tensor):
            groups.setdefault((call, ctx.text(tensor)), []).append(tensor)
    for (taker, text), places in groups.items():
        yield ctx.finding(
            places[0],
            f"the elements of `{text}` are read one by one: each place is a graph of its own, "
            "which is compiled and run by itself",
            certainty=Certainty.LIKELY,
            related=tuple((index.span(other), "and here") for other in places[1:]),
            help=_AT_ONCE if isinstance(taker, ast.Call) else "",
        )


def _gone_through(ctx: FileContext, source: ast.expr, target: ast.expr) -> ast.expr | None:
    """The tensor whose elements a loop takes: ``for y in labels``, ``for i, y in enumerate(labels)``."""
    waiting: list[tuple[ast.expr, ast.expr]] = [(source, target)]
    while waiting:
        source, target = waiting.pop()
        if isinstance(source, ast.Call) and ctx.index.qualified_name(source.func) in _WRAPPERS:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            if ctx.index.qualified_name(source.func) == "builtins.enumerate":
                parts = parts[1:]
            waiting.extend(zip(source.args, parts, strict=False))
        elif not isinstance(target, ast.Tuple) and _is_one_tensor(ctx, source, 0):
            return source
    return None


def _counting_loop(ctx: FileContext, node: ast.Subscript) -> LoopNode | None:
    """The loop within a turn whose counter is the index."""
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(items) == 1 and not _is_one_tensor(ctx, node.value, 0):
        return None
    for item in items:
        for binding in ctx.index.flow.reaching(item) if isinstance(item, ast.Name) else ():
            call = binding.value
            if binding.kind != "loop" or not isinstance(call, ast.Call) or not isinstance(binding.statement, LOOPS):
                continue
            name = ctx.index.qualified_name(call.func)
            if name in _COUNTERS and (name != "builtins.enumerate" or binding.path[:1] == (0,)):
                return binding.statement
    return None


def _is_one_tensor(ctx: FileContext, node: ast.expr, depth: int) -> bool:
    """Whether an operation has made it: what a model or a caller gives may be a list of tensors."""
    index = ctx.index
    if isinstance(node, ast.Compare | ast.BinOp):
        return index.kind(node) is Kind.TENSOR
    if isinstance(node, ast.Call):
        name, func = index.qualified_name(node.func), node.func
        if name is not None:
            return name.startswith("torch.") and name.rpartition(".")[2] not in _SEVERAL
        is_method = isinstance(func, ast.Attribute) and index.kind(func.value) is Kind.TENSOR
        return is_method and isinstance(func, ast.Attribute) and func.attr not in _SEVERAL
    if isinstance(node, ast.Subscript):  # `output.max(1)[1]`
        return _gives_two(ctx, node.value) and isinstance(node.slice, ast.Constant)
    if not isinstance(node, ast.Name) or depth > _DEPTH:
        return False
    values: list[ast.expr | None] = []
    bindings = index.flow.reaching(node)
    for binding in bindings:
        value = binding.value if binding.kind == "assign" else None
        if value is not None and len(binding.path) == 1 and _gives_two(ctx, value):
            continue  # `_, predicted = output.max(1)`
        for at in binding.path:
            value = value.elts[at] if isinstance(value, ast.Tuple) and at < len(value.elts) else None
        values.append(value)
    return bool(bindings) and all(value is not None and _is_one_tensor(ctx, value, depth + 1) for value in values)


def _gives_two(ctx: FileContext, node: ast.expr) -> bool:
    """Whether an operation gives a tensor of values and one of their places."""
    func = node.func if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or not isinstance(func, ast.Attribute) or func.attr not in WITH_PLACES:
        return False
    name = ctx.index.qualified_name(func)
    return name == f"torch.{func.attr}" or (name is None and ctx.index.kind(func.value) is Kind.TENSOR)


def _is_read(ctx: FileContext, node: ast.For | ast.Subscript, loop: LoopNode) -> bool:
    """Whether the host takes the element in the same turn: what is read there was computed from this one."""
    index = ctx.index
    if isinstance(node, ast.Subscript):
        reads = index.reads.inside(index.statement_of(node))
        return any(index.tree.encloses(read.tensor, node) or read.tensor is node for read in reads)
    return _are_read(ctx, node.target, node.body)


def _are_read(ctx: FileContext, target: ast.expr, body: Iterable[ast.AST]) -> bool:
    """Whether the host takes what a loop gives a name, somewhere in it."""
    names = {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
    return any(
        isinstance(part, ast.Name) and part.id in names
        for item in body
        for read in ctx.index.reads.inside(item)
        for part in ast.walk(read.tensor)
    )
