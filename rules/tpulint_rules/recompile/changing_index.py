"""A Python number that another turn has another value of, as an index or slice of a device tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Fix
from tpulint.semantic.reads.unseen_callers import may_be_given_tensor
from tpulint.semantic.sizes.computed_places import indices_of, is_computed_place, is_written_by_label
from tpulint.semantic.sizes.slice_objects import slice_made, slice_meant
from tpulint.semantic.values.possible_lists import may_be_list

_LEVELS = (
    "each tree is a graph of its own: go through all trees of a batch level by level, the places of each in a tensor"
)
_STORED = "The same elements are written; the place is an input of the graph."
_GIVING_ONE = frozenset({
    "sqrt", "rsqrt", "square", "exp", "log", "abs", "neg", "sin", "cos", "sigmoid", "tanh", "reciprocal", "cumsum",
    "cumprod", "detach", "clone",
})  # fmt: skip
"""Methods that only tensors and arrays have, and that give one of them."""


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists:
        return
    boxes: dict[ast.stmt, FixBuilder | None] = {}
    ranges: dict[ast.Call, Fix | None] = {}
    for node in index.turn_code.nodes(ast.Subscript):
        turn = index.turn_code.turn_of(node)
        items = indices_of(node)
        if turn is None or any(_is_list(item) for item in items):
            continue
        causes = {item: cause for item in items if (cause := _cause(ctx, item)) is not None}
        places = () if causes else items
        place = next((item for item in places if _is_place(ctx, node, items, item)), None)
        if not (causes or place) or not index.is_device_tensor(node.value):
            continue
        if not isinstance(node.slice, ast.Tuple) and may_be_list(index, node.value):
            continue
        if not index.value(node.value).certain and _is_moved_behind(ctx, node):
            continue  # of a tensor of the host, as it seems
        if place is not None:
            yield _read_place(ctx, node, place, turn)
            continue
        lengths = [ctx.text(item) for item in causes if not _is_steady(ctx, item)]
        statement = index.statement_of(node)
        if lengths and statement not in boxes:
            from tpulint_rules.recompile._boxes import masked

            boxes[statement] = masked(ctx, statement, next(iter(causes)))
        is_of_tree = any(item is cause for item, cause in causes.items())
        fix: Fix | FixBuilder | None = boxes[statement] if lengths else None
        if not (lengths or is_of_tree or len(causes) > 1):
            item = next(iter(causes))
            made = slice_made(index, item)
            if made is None:
                fix = _fix(ctx, node, items, item)
            else:
                fix = ranges[made] = ranges[made] if made in ranges else _fix_made(ctx, made, node)
        what = "a new length" if lengths else "another place"
        source = next(iter(causes.values()))
        number = source.arg if isinstance(source, ast.arg) else ctx.text(source)  # a parameter without its annotation
        message = (
            f"`{ctx.text(node)}` takes {what} of a device tensor in every {turn}: "
            f"Python's `{number}` becomes part of the graph, which is compiled anew for each value"
        )
        advice = (
            "pad to one length and mask the rest: `torch.arange(size, device=device) < length`"
            if lengths
            else _LEVELS
            if is_of_tree
            else "keep the tensor on the host and move the slice, or index it with a tensor"
        )
        certain = index.value(node.value).certain
        yield ctx.finding(
            node,
            message,
            fix,
            certainty=Certainty.CERTAIN if certain else Certainty.LIKELY,
            help=advice,
            related=((index.span(source), "changes here"),),
        )


def _is_moved_behind(ctx: FileContext, part: ast.expr) -> bool:
    """Whether a part is moved to the device right where it is taken: ``x[i : i + 16].to(device)``."""
    method = ctx.index.parent(part)
    call = ctx.index.parent(method) if isinstance(method, ast.Attribute) else None
    if not isinstance(method, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not method:
        wraps = isinstance(method, ast.Call) and ctx.index.qualified_name(method.func) == "torch.autograd.Variable"
        return wraps and isinstance(method, ast.Call) and _is_moved_behind(ctx, method)
    return ctx.index.moves.to_device(call) is not None or _is_moved_behind(ctx, call)


def _is_place(ctx: FileContext, node: ast.Subscript, items: list[ast.expr], item: ast.expr) -> bool:
    """Whether an index is one number that is on the device."""
    is_computed = is_computed_place(ctx.index, item) or is_written_by_label(ctx.index, node, item)
    if is_computed or _is_place_of_one(ctx, node, items, item) or _is_numbered(ctx, node, item):
        return True
    return ctx.index.is_device_tensor(item) and _is_read_as_number(ctx, node)


def _is_place_of_one(ctx: FileContext, node: ast.Subscript, items: list[ast.expr], item: ast.expr) -> bool:
    """Whether an index is an element of a device tensor, one number: ``sorted[b, c] = x[b, places[b][c]]``.

    What is stored is of as many dimensions as its place in a tensor made like the one it is taken from.
    """
    index, statement = ctx.index, ctx.index.parent(node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(item, ast.Subscript) or not isinstance(target, ast.Subscript) or not index.is_device_tensor(item):
        return False
    stored = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    made = index.flow.reaching(target.value) if isinstance(target.value, ast.Name) else ()
    if len(stored) != len(items) or not all(_counts(ctx, place) for place in stored):
        return False
    return bool(made) and all(binding.kind == "assign" and _is_like(ctx, binding.value, node.value) for binding in made)


def _is_read_as_number(ctx: FileContext, node: ast.Subscript) -> bool:
    """Whether the same element is read, too, ``kept = x[j, places[j]].item()``: its places are one number each."""
    function = ctx.index.function_of(node)
    return isinstance(node.ctx, ast.Store) and any(
        isinstance(read, ast.Subscript)
        and ctx.index.function_of(read) is function
        and ast.dump(read.slice) == ast.dump(node.slice)
        and ctx.text(read.value) == ctx.text(node.value)
        for _, read in ctx.index.method_calls("item")
    )


def _is_numbered(ctx: FileContext, node: ast.Subscript, place: ast.expr) -> bool:
    """``table[places[j]] = j`` of ``for j in range(places.size(0))``, which gives each place a number."""
    if not isinstance(node.ctx, ast.Store) or not isinstance(place, ast.Subscript):
        return False
    bindings = ctx.index.flow.reaching(place.slice) if isinstance(place.slice, ast.Name) else ()
    source = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "loop" else None
    counted = ctx.text(place.value)
    is_counted = source is not None and ctx.text(source) in (f"range({counted}.size(0))", f"range({counted}.shape[0])")
    return is_counted and ctx.index.is_device_tensor(place)


def _counts(ctx: FileContext, item: ast.expr) -> bool:
    """Whether an index is a number that counts the turns of a loop."""
    bindings = ctx.index.flow.reaching(item) if isinstance(item, ast.Name) else ()
    return bool(bindings) and all(
        binding.kind == "loop"
        and not binding.path
        and isinstance(binding.value, ast.Call)
        and ctx.index.qualified_name(binding.value.func) == "builtins.range"
        for binding in bindings
    )


def _is_like(ctx: FileContext, value: ast.expr | None, tensor: ast.expr) -> bool:
    """``torch.zeros_like(tensor)``"""
    if not isinstance(value, ast.Call) or not value.args:
        return False
    name = ctx.index.qualified_name(value.func) or ""
    return name.startswith("torch.") and name.endswith("_like") and ctx.text(value.args[0]) == ctx.text(tensor)


def _read_place(ctx: FileContext, node: ast.Subscript, place: ast.expr, turn: str) -> Finding:
    certain = ctx.index.value(place).certain and ctx.index.value(node.value).certain
    return ctx.finding(
        node,
        f"`{ctx.text(node)}` reads `{ctx.text(place)}` on the host in every {turn}, "
        "and makes a constant of the graph of it, which is compiled anew for each value",
        certainty=Certainty.CERTAIN if certain else Certainty.LIKELY,
        help="index with a tensor of one dimension: " + _with_place(node),
    )


def _with_place(node: ast.Subscript) -> str:
    return "`x[place[None]] = value`" if isinstance(node.ctx, ast.Store) else "`x[place[None]][0]`"


def _is_list(item: ast.expr) -> bool:
    return isinstance(item, ast.List | ast.ListComp | ast.Starred)


def _cause(ctx: FileContext, item: ast.expr) -> ast.AST | None:
    numbers = ctx.index.changing_numbers
    meant = slice_meant(ctx.index, item)
    if meant is not None:
        return next((found for part in (meant.lower, meant.upper) if part and (found := numbers.cause(part))), None)
    length = ctx.index.changing_lengths.of(item)
    if length is not None and not length.by_mask:
        return length.cause
    return numbers.cause(item) or ctx.index.batch_measures.read(item)


def _is_steady(ctx: FileContext, item: ast.expr) -> bool:
    """Whether as many elements are taken in every turn."""
    lengths, meant = ctx.index.changing_lengths, slice_meant(ctx.index, item)
    return (lengths.of(item) if meant is None else lengths.of_slice(meant)) is None


def _is_number(ctx: FileContext, item: ast.expr) -> bool:
    """Whether an index is a whole number that turns have in common, ``0`` or the counter of a loop within the turn."""
    if isinstance(item, ast.Constant):
        return type(item.value) is int
    return isinstance(item, ast.Name) and _counts(ctx, item)


def _is_given_by_tensor(node: ast.expr) -> bool:
    """``b.sqrt()``, which no list has."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GIVING_ONE


def _fix(ctx: FileContext, node: ast.Subscript, items: list[ast.expr], item: ast.expr) -> FixBuilder | None:
    """The place as a tensor: the same elements, and one graph for all places."""
    from tpulint_rules.recompile._places import LEFT_ALONE, choose_by_tensor, is_plain, is_stored, keep_meaning

    at = items.index(item)
    others = [other for other in items if other is not item]
    # Where something is written the base is asked for its dtype: it stands there twice.
    is_once = not is_stored(ctx, node)
    is_tensor = isinstance(node.slice, ast.Tuple) or ctx.index.value(node.value).certain
    is_tensor = is_tensor or _is_given_by_tensor(node.value)
    if isinstance(node.value, ast.Subscript):  # of a list of lists, or of tensors
        is_tensor = is_tensor or ctx.index.dimensions.of(node.value) is not None
    may_be_written_twice = is_plain(node.value) and (is_tensor or not isinstance(node.value, ast.Subscript))
    if not (may_be_written_twice or (is_once and is_tensor)):
        return None
    if others and not isinstance(item, ast.Slice) and all(_is_number(ctx, other) for other in others):
        at = 0  # all of them together choose one element: what is chosen has its dimension in front
    elif not all(isinstance(other, ast.Slice) for other in others):
        return None
    stored = is_stored(ctx, node)
    is_safe = stored and ctx.index.value(node.value).certain
    fix = ctx.fix(
        "Choose the place by a tensor",
        Applicability.SAFE if is_safe else Applicability.UNSAFE,
        _STORED if stored else LEFT_ALONE,
    )
    if isinstance(item, ast.Slice):
        from tpulint_rules.recompile._slices import choose_by_range

        choose_by_range(ctx, fix, node, item)
        keep_meaning(ctx, fix, node)
        return fix
    if may_be_given_tensor(ctx.index, item):
        return None  # `x[[i]][0]` would be the part of the first place for all
    choose_by_tensor(ctx, fix, node, item, at)
    return fix


def _fix_made(ctx: FileContext, made: ast.Call, node: ast.Subscript) -> Fix | None:
    from tpulint_rules.recompile._slice_objects import choose_by_made_range

    return choose_by_made_range(ctx, made, node)
