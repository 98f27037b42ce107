"""Batches cut out of a whole by hand: the last one is what is left over."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import StepLoop
from tpulint.semantic.linear import Linear

_LEFT_OUT = "Up to one batch less one of the samples take no part in each epoch."
_SHUFFLES = ("torch.randperm", "numpy.random.permutation", "random.sample")
_SHUFFLING = ("random.shuffle", "numpy.random.shuffle")
_WRAPPERS = ("builtins.enumerate", "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm")


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for loop in index.step_loops:
        places = _places(ctx, loop)
        if places is None or _stops_short(ctx, loop) or _divides(ctx, places):
            continue
        slices = [found for found in _slices(ctx, loop, places) if found is not None]
        if not slices:
            continue
        cut = slices[0]
        yield ctx.finding(
            places,
            "the last batch may be smaller, and the training step is compiled again for its size",
            _fix(ctx, places) if any(_is_shuffled(ctx, item.value) for item in slices) else None,
            certainty=Certainty.LIKELY,
            help="pad the last batch and give the padding no weight in the loss, or leave it out",
            related=((index.span(cut), "the batch is cut here"),),
        )


def _places(ctx: FileContext, loop: StepLoop) -> ast.Call | None:
    """The ``range(0, count, size)`` that a loop goes through."""
    node = loop.node.iter if isinstance(loop.node, ast.For | ast.AsyncFor) else None
    while isinstance(node, ast.Call) and ctx.index.qualified_name(node.func) in _WRAPPERS and node.args:
        node = node.args[0]
    if not isinstance(node, ast.Call) or ctx.index.qualified_name(node.func) != "builtins.range":
        return None
    if len(node.args) != 3 or (isinstance(node.args[2], ast.Constant) and node.args[2].value in (1, -1)):
        return None
    return None if isinstance(node.args[2], ast.UnaryOp) else node


def _slices(ctx: FileContext, loop: StepLoop, places: ast.Call) -> Iterator[ast.Subscript]:
    """Slices of a turn that are as long as the steps between the places, or as what is left."""
    index, size = ctx.index, places.args[2]
    for node in index.turn_code.nodes(ast.Subscript):
        first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        if not isinstance(first, ast.Slice) or first.lower is None or first.upper is None:
            continue
        if not index.tree.encloses(loop.node, node) or index.changing_numbers.cause(first.lower) is None:
            continue
        if any(_is_ahead(ctx, upper, first.lower, size) for upper in _upper_ends(ctx, first.upper)):
            yield node


def _upper_ends(ctx: FileContext, node: ast.expr) -> list[ast.expr]:
    """What a slice may end with: both of ``min(start + size, count)``."""
    if isinstance(node, ast.Name):
        bindings = ctx.index.flow.reaching(node)
        value = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
        return [node] if value is None else [node, *_upper_ends(ctx, value)]
    if isinstance(node, ast.Call) and ctx.index.qualified_name(node.func) == "builtins.min":
        return list(node.args)
    return [node]


def _is_ahead(ctx: FileContext, upper: ast.expr, lower: ast.expr, size: ast.expr) -> bool:
    """Whether an end is as far behind the start as the next start."""
    ahead = ast.copy_location(ast.BinOp(lower, ast.Add(), size), lower)
    return Linear(ctx.index).difference(upper, ahead) == []


def _divides(ctx: FileContext, places: ast.Call) -> bool:
    """Whether the places are known to end with a whole batch."""
    count, size = places.args[1], places.args[2]
    loaders = ctx.index.loaders
    known, step = loaders.number(count), loaders.number(size)
    if known and step:
        return known % step == 0
    parts = [item for part in (count, *_values_of(ctx, count)) for item in (part, *ctx.index.tree.inside(part))]
    if not any(_is_count_of_samples(ctx, item) for item in parts):
        return True  # a number that was chosen, maybe to fit
    for item in parts:
        if isinstance(item, ast.BinOp) and isinstance(item.op, ast.FloorDiv | ast.Mod | ast.Mult):
            return True
        if isinstance(item, ast.BinOp) and isinstance(item.op, ast.Sub) and _mentions(ctx, item.right, size):
            return True
    # The size may have been chosen for the count: `size = count // batches`.
    return any(
        isinstance(item, ast.BinOp) and isinstance(item.op, ast.FloorDiv)
        for value in _values_of(ctx, size)
        for item in (value, *ctx.index.tree.inside(value))
    )


def _is_count_of_samples(ctx: FileContext, node: ast.AST) -> bool:
    """``len(x)``, ``x.size(0)``, ``x.shape[0]``."""
    if isinstance(node, ast.Call):
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return method == "size" or ctx.index.qualified_name(node.func) == "builtins.len"
    return isinstance(node, ast.Attribute) and node.attr == "shape"


def _values_of(ctx: FileContext, node: ast.expr) -> list[ast.expr]:
    """What is assigned to a variable, or to an attribute of that name anywhere."""
    if isinstance(node, ast.Name):
        bindings = ctx.index.flow.reaching(node)
        return [binding.value for binding in bindings if binding.value is not None and binding.kind == "assign"]
    if not isinstance(node, ast.Attribute):
        return []
    stores = [other for other in ctx.index.tree.attributes_called(node.attr) if isinstance(other.ctx, ast.Store)]
    statements = [ctx.index.statement_of(store) for store in stores]
    return [statement.value for statement in statements if isinstance(statement, ast.Assign)]


def _mentions(ctx: FileContext, node: ast.expr, size: ast.expr) -> bool:
    return any(ast.dump(part) == ast.dump(size) for part in (node, *ctx.index.tree.inside(node)))


def _stops_short(ctx: FileContext, loop: StepLoop) -> bool:
    """Whether the loop asks how long a batch is before it goes on."""
    for node in ctx.index.tree.inside(loop.node, functions=False):
        if not isinstance(node, ast.If) or not any(isinstance(item, ast.Continue | ast.Break) for item in node.body):
            continue
        text = ctx.text(node.test)
        target = ctx.text(loop.node.target) if isinstance(loop.node, ast.For | ast.AsyncFor) else ""
        if any(part in text for part in ("len(", ".shape", ".size(", target)):
            return True
    return False


def _is_shuffled(ctx: FileContext, node: ast.expr) -> bool:
    """Whether what is cut comes in a new order each time."""
    index = ctx.index
    if not isinstance(node, ast.Name):
        return False
    for binding in index.flow.reaching(node):
        made = binding.value
        while isinstance(made, ast.Call) and index.qualified_name(made.func) is None:
            made = made.func.value if isinstance(made.func, ast.Attribute) else None  # `.tolist()`, `.to(device)`
        if isinstance(made, ast.Call) and index.qualified_name(made.func) in _SHUFFLES:
            return True
    return any(
        call.args and isinstance(call.args[0], ast.Name) and call.args[0].id == node.id
        for call in index.calls_to(*_SHUFFLING)
    )


def _fix(ctx: FileContext, places: ast.Call) -> FixBuilder:
    fix = ctx.fix("Leave out the partial batch", Applicability.UNSAFE, _LEFT_OUT)
    count, size = fix.text(places.args[1]), fix.text(places.args[2])
    fix.replace(places.args[1], f"{count} // {size} * {size}")
    return fix
