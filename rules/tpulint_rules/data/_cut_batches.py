"""Loops that cut batches out of a whole: by slices, by places, up to what is left."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from tpulint.context import FileContext
from tpulint.semantic.batches.batch_makers import BatchMaker
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint_rules.data._batch_sizes import (
    counts_batches,
    divides,
    is_ahead,
    is_count_of_samples,
    sizes_counted_in,
    upper_ends,
    values_of,
)
from tpulint_rules.data._broken_off_batches import broken_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    _Node = TypeVar("_Node", bound=ast.AST)

Remainder = tuple[ast.expr, Sequence[ast.Subscript | ast.Call]]
"""The places that a loop goes through, or the condition for another one, and what is cut at them."""
_WRAPPERS = ("builtins.enumerate", "tqdm.tqdm")


def remainder(ctx: FileContext, loop: ast.AST, *, is_turn: bool) -> Remainder | None:
    """The places that a loop goes through, and what it cuts at them, where the last one may be smaller."""
    if isinstance(loop, ast.While):
        return _rest(ctx, loop) or _stepped(ctx, loop)
    if isinstance(loop, ast.ListComp | ast.GeneratorExp):
        return _listed(ctx, loop)
    places = _places(ctx, loop)
    if places is not None and isinstance(loop, ast.For) and counts_batches(ctx, places):
        found = broken_off(ctx, loop)
        if found is not None and not _stops_short(ctx, loop, left_out=found[0]):
            return places, found[1]
    if places is None or _stops_short(ctx, loop) or _is_set_back(ctx, loop):
        return None
    slices = [
        node
        for node in (ctx.index.turn_code.nodes(ast.Subscript) if is_turn else _inside(ctx, loop, ast.Subscript))
        if ctx.index.tree.encloses(loop, node) and _is_batch(ctx, node, loop, places, is_turn)
    ]
    if not slices and is_turn and not counts_batches(ctx, places):
        slices = list(_cut_by_functions(ctx, loop, places))
    return (places, slices) if slices and not divides(ctx, places) else None


def _is_set_back(ctx: FileContext, loop: ast.AST) -> bool:
    """Whether a loop sets its counter back: ``if at + size > count: at = count - size``, a whole piece again."""
    target = loop.target if isinstance(loop, ast.For) else None
    found = ctx.index.names.find_name(target) if isinstance(target, ast.Name) else None
    others = () if found is None else (one for one in found[1] if one.node is not target)
    return any(ctx.index.tree.encloses(loop, one.node) for one in others)


def _cut_by_functions(ctx: FileContext, loop: ast.AST, places: ast.Call) -> Iterator[ast.Subscript]:
    """What functions cut that a loop calls with its places: ``x[at : at + size]`` in ``get_batch(x, at, size)``."""
    index = ctx.index
    for call in _inside(ctx, loop, ast.Call):
        function = index.definitions.function_called(call)
        if function is None or _asks_how_long(ctx, index.tree.nodes_in(function, ast.If)):
            continue
        given = dict(arguments_given(call, function, index.tree.class_of(function) is not None))
        starts = {name for name, item in given.items() if _follows(ctx, item, loop)}
        for node in _inside(ctx, function, ast.Subscript) if starts else ():
            part = node.slice
            if isinstance(part, ast.Slice) and isinstance(part.lower, ast.Name) and part.lower.id in starts:
                bindings = index.flow.reaching(part.lower)
                if part.upper is None or not bindings or any(binding.kind != "parameter" for binding in bindings):
                    continue
                sizes = [name for name, item in given.items() if ctx.text(item) == ctx.text(places.args[2])]
                ends = (part.upper, *index.tree.inside(part.upper))
                ways = [places.args[2], *(end for end in ends if isinstance(end, ast.Name) and end.id in sizes)]
                if any(is_ahead(ctx, part.upper, part.lower, size) for size in ways):
                    yield node


def remainder_made(ctx: FileContext, maker: BatchMaker) -> Remainder | None:
    """The same of what makes batches for a loop, which may leave the last one out."""
    if maker.taker is not None and _stops_short(ctx, maker.taker):
        return None
    return remainder(ctx, maker.loop, is_turn=False)


def _listed(ctx: FileContext, batches: ast.ListComp | ast.GeneratorExp) -> Remainder | None:
    """The same of ``[x[i : i + size] for i in range(0, len(x), size)]``."""
    through = batches.generators[0]
    places = None if through.ifs or len(batches.generators) > 1 else _places(ctx, through)
    if places is None or divides(ctx, places):
        return None
    parts = (batches.elt, *ctx.index.tree.inside(batches.elt))
    slices = [
        node for node in parts if isinstance(node, ast.Subscript) and _is_batch(ctx, node, through, places, False)
    ]
    return (places, slices) if slices else None


def _rest(ctx: FileContext, loop: ast.While) -> Remainder | None:
    """``end = min(start + size, count)`` in a loop that goes on at the end: the last batch is what is left."""
    for call in _inside(ctx, loop, ast.Call):
        if ctx.index.qualified_name(call.func) != "builtins.min" or len(call.args) != 2 or _stops_short(ctx, loop):
            continue
        ahead = [item for item in call.args if isinstance(item, ast.BinOp) and isinstance(item.op, ast.Add)]
        starts = [side for item in ahead for side in (item.left, item.right) if isinstance(side, ast.Name)]
        if any(_goes_on(ctx, start, call, loop) for start in starts):
            return call, [call]
    return None


def _stepped(ctx: FileContext, loop: ast.While) -> Remainder | None:
    """``while start < len(x)`` with ``x[start : start + size]`` and ``start += size``."""
    index, test = ctx.index, loop.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Lt):
        return None
    start, count = test.left, test.comparators[0]
    counts = [part for item in (count, *values_of(ctx, count)) for part in (item, *index.tree.inside(item))]
    if not isinstance(start, ast.Name) or not any(is_count_of_samples(ctx, part) for part in counts):
        return None
    sizes = [
        statement.value
        for statement in loop.body
        if isinstance(statement, ast.AugAssign)
        and isinstance(statement.op, ast.Add)
        and isinstance(statement.target, ast.Name)
        and statement.target.id == start.id
    ]
    if len(sizes) != 1 or _stops_short(ctx, loop):
        return None
    slices = [node for node in _inside(ctx, loop, ast.Subscript) if _is_cut_at(ctx, node, start.id, sizes[0])]
    return (test, slices) if slices else None


def _is_cut_at(ctx: FileContext, node: ast.Subscript, start: str, size: ast.expr) -> bool:
    """Whether a slice begins at a variable and is as long as its steps."""
    cut = _axis_cut(node)
    if not isinstance(cut, ast.Slice) or not isinstance(cut.lower, ast.Name) or cut.lower.id != start:
        return False
    ends = () if cut.upper is None else upper_ends(ctx, cut.upper)
    return any(is_ahead(ctx, upper, cut.lower, size) for upper in ends)


def _goes_on(ctx: FileContext, start: ast.Name, end: ast.Call, loop: ast.While) -> bool:
    """Whether a turn leaves off where the next begins: ``start = end``."""
    parent = ctx.index.parent(end)
    name = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    return isinstance(name, ast.Name) and any(
        binding.kind == "assign"
        and isinstance(binding.value, ast.Name)
        and binding.value.id == name.id
        and ctx.index.tree.encloses(loop, binding.node)
        for binding in ctx.index.flow.reaching(start)
    )


def _inside(ctx: FileContext, loop: ast.AST, kind: type[_Node]) -> list[_Node]:
    return [node for node in ctx.index.tree.nodes_in(loop, kind, functions=False) if isinstance(node, kind)]


def _places(ctx: FileContext, loop: ast.AST) -> ast.Call | None:
    """The ``range(0, count, size)`` that a loop goes through, or ``range(math.ceil(count / size))``."""
    node = loop.iter if isinstance(loop, ast.For | ast.AsyncFor | ast.comprehension) else None
    while isinstance(node, ast.Call) and ctx.index.qualified_name(node.func) in _WRAPPERS and node.args:
        node = node.args[0]
    if not isinstance(node, ast.Call) or ctx.index.qualified_name(node.func) != "builtins.range":
        return None
    if counts_batches(ctx, node):
        return node
    if len(node.args) < 3:
        return None
    if isinstance(node.args[2], ast.Constant) and node.args[2].value in (1, -1):
        return None
    return None if isinstance(node.args[2], ast.UnaryOp) else node


def _is_batch(ctx: FileContext, node: ast.Subscript, loop: ast.AST, places: ast.Call, is_turn: bool) -> bool:
    """Whether a slice is as long as the steps between the places, or as what is left."""
    cut = _axis_cut(node)
    if not isinstance(cut, ast.Slice) or cut.lower is None or cut.upper is None:
        return False
    if not (_follows(ctx, cut.lower, loop) or (is_turn and ctx.index.changing_numbers.cause(cut.lower))):
        return False
    sizes = sizes_counted_in(ctx, cut.lower) if counts_batches(ctx, places) else places.args[2:]
    return any(is_ahead(ctx, upper, cut.lower, size) for upper in upper_ends(ctx, cut.upper) for size in sizes)


def _axis_cut(node: ast.Subscript) -> ast.expr:
    """What is cut along the first axis that is not taken whole: ``a : b`` of ``x[a:b, 1]`` and of ``x[:, a:b]``."""
    axes = node.slice.elts if isinstance(node.slice, ast.Tuple) and node.slice.elts else [node.slice]
    return next((axis for axis in axes if not _is_whole(axis)), axes[0])


def _is_whole(axis: ast.expr) -> bool:
    return isinstance(axis, ast.Slice) and axis.lower is None and axis.upper is None and axis.step is None


def _follows(ctx: FileContext, node: ast.expr, loop: ast.AST) -> bool:
    """Whether a place is computed of what a loop counts."""
    waiting, seen = [node], {node}  # a variable may be computed of itself
    while waiting:
        item = waiting.pop()
        for part in (item, *ctx.index.tree.inside(item)):
            for binding in ctx.index.flow.reaching(part) if isinstance(part, ast.Name) else ():
                if binding.statement is loop:
                    return True
                value = binding.value if binding.kind == "assign" else None
                if value is not None and value not in seen and ctx.index.tree.encloses(loop, binding.node):
                    seen.add(value)
                    waiting.append(value)
    return False


def _stops_short(ctx: FileContext, loop: ast.AST, left_out: ast.If | None = None) -> bool:
    """Whether the loop asks how long a batch is before it goes on, or hands it on; all questions but one count."""
    tests = (test for test in ctx.index.tree.nodes_in(loop, ast.If, functions=False) if test is not left_out)
    return _asks_how_long(ctx, tests, ctx.text(loop.target) if isinstance(loop, ast.For | ast.AsyncFor) else "")


def _asks_how_long(ctx: FileContext, tests: Iterable[ast.AST], *counted: str) -> bool:
    """Whether one of these conditions leaves something out that is too short, or by what a loop counts."""
    asking = ("len(", ".shape", ".size(", *counted)
    return any(
        isinstance(node, ast.If)
        and any(map(_leaves_out, (*node.body, *node.orelse)))
        and any(part in ctx.text(node.test) for part in asking)
        for node in tests
    )


def _leaves_out(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Yield)
    return isinstance(statement, ast.Continue | ast.Break | ast.Return)
