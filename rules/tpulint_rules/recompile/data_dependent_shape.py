"""Operations whose result is as long as the data says: the host has to ask, and every length is another graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic import FUNCTIONS, Kind, Side
from tpulint.semantic.sizes.byte_masks import chooses_by_bytes
from tpulint_rules.recompile._filtered_losses import loss_of
from tpulint_rules.recompile._filtered_rows import filtered_rows

_FUNCTIONS = frozenset(
    f"torch.{name}"
    for name in ("masked_select", "nonzero", "argwhere", "unique", "unique_consecutive", "repeat_interleave", "where")
)
_CHOOSING = frozenset({
    "torchvision.ops.nms", "torchvision.ops.batched_nms", "torchvision.ops.boxes.nms",
    "torch_geometric.utils.dropout_adj", "torch_geometric.utils.dropout_edge", "torch_geometric.utils.dropout_node",
})  # fmt: skip
"""Functions that choose boxes, or leave out edges of a graph by a mask of random numbers."""
_METHODS = frozenset({"masked_select", "nonzero", "argwhere", "unique", "unique_consecutive", "repeat_interleave"})
_PLACES = frozenset({"numpy.where", "numpy.nonzero", "numpy.flatnonzero"})
"""Functions of NumPy that tell where a mask is true."""
_CHOSEN = (Kind.TENSOR, Kind.UNKNOWN)
_DEPTH = 3
_ON_HOST = "The mask is made on the host in every step, and what it chooses is looked up there."
_FILLED = "The same elements get the same value, in place, if the mask begins with the dimensions of the tensor."
_SUM_ORDER = "Zeros are added for the elements left out: the sum may differ in its last digits."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists:
        return
    yield from filtered_rows(ctx)
    nodes: list[ast.Subscript | ast.Call] = [*index.turn_code.nodes(ast.Subscript), *index.turn_code.nodes(ast.Call)]
    for node in nodes:
        turn = index.turn_code.turn_of(node)
        if turn is not None and isinstance(node, ast.Subscript) and (places := _places_on_host(ctx, node)) is not None:
            yield ctx.finding(
                node,
                f"`{short(ctx.text(places))}` chooses another number of elements of a device tensor in every {turn}, "
                "which is compiled again for each number",
                _fill(ctx, node),
                certainty=Certainty.LIKELY,
                help="Keep all elements, and leave those out by a factor of 0 in what is summed.",
            )
            continue
        tensor = _chosen_from(ctx, node) if turn is not None else None
        if tensor is None or _asks_for_places(ctx, node) or loss_of(index, node) is not None:
            continue
        certain = index.value(tensor).certain
        yield ctx.finding(
            node,
            f"the size of `{short(ctx.text(node))}` depends on the data: "
            f"the host reads it in every {turn}, and compiles again for each size",
            _fix(ctx, node),
            certainty=Certainty.CERTAIN if certain else Certainty.LIKELY,
        )


def _chosen_from(ctx: FileContext, node: ast.Subscript | ast.Call) -> ast.expr | None:
    """The device tensor that an expression of unknown size is taken from; None when it is no such expression."""
    index = ctx.index
    if isinstance(node, ast.Subscript):
        chosen = index.value(node.value)  # what a mask of the device is taken of is on the device, or fails
        if not isinstance(node.ctx, ast.Load) or chosen.kind not in _CHOSEN or chosen.side is Side.HOST:
            return None
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return node.value if any(index.masks.is_mask(i) or chooses_by_bytes(index, i) for i in items) else None
    name = index.qualified_name(node.func)
    if name is not None:
        if name in _CHOOSING and node.args:
            return node.args[0] if index.is_device_tensor(node.args[0]) else None
        if (
            name not in _FUNCTIONS
            or not node.args
            or (name == "torch.where" and len(node.args) + len(node.keywords) > 1)
        ):
            return None
        tensor, rest, method = node.args[0], node.args[1:], name[6:]
    elif isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
        tensor, rest, method = node.func.value, node.args, node.func.attr
    else:
        return None
    chosen = index.value(tensor)  # what a mask of the device is taken of is on the device, or fails
    masked = method == "masked_select" and chosen.kind is Kind.TENSOR and chosen.side is not Side.HOST
    if not index.is_device_tensor(tensor) and not (masked and rest and index.is_device_tensor(rest[0])):
        return None
    if method == "repeat_interleave":
        repeats = [*rest[:1], *(k.value for k in node.keywords if k.arg == "repeats")]
        known = any(k.arg == "output_size" for k in node.keywords)
        return tensor if repeats and not known and index.is_device_tensor(repeats[0]) else None
    return tensor


def _places_on_host(ctx: FileContext, node: ast.Subscript) -> ast.expr | None:
    """What chooses in ``logits[np.where(labels != 0)]``, of labels that are others in every turn."""
    chosen = ctx.index.value(node.value)
    if chosen.kind is not Kind.TENSOR or chosen.side is Side.HOST:
        return None
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    names = [item for item in items if isinstance(item, ast.Name)]
    if (found := next((name for name in names if _is_asked_for_length(ctx, node, name)), None)) is not None:
        return found
    if isinstance(node.ctx, ast.Del) or not ctx.index.is_device_tensor(node.value):
        return None
    chooses = ctx.index.changing_lengths.is_mask
    return next((item for item in items if chooses(item) or _are_places_of_turn(ctx, item)), None)


def _fill(ctx: FileContext, node: ast.Subscript) -> FixBuilder | None:
    """``x[np.where(mask)] = 0`` writes through the mask itself, which has one shape in all turns."""
    index, statement, call = ctx.index, ctx.index.parent(node), node.slice
    if not isinstance(statement, ast.Assign) or statement.targets != [node] or not isinstance(node.value, ast.Name):
        return None
    if not isinstance(call, ast.Call) or index.qualified_name(call.func) not in _PLACES - {"numpy.flatnonzero"}:
        return None
    if len(call.args) != 1 or call.keywords or not isinstance(call.args[0], ast.Compare):
        return None
    if not isinstance(statement.value, ast.Constant) or index.xla_devices.is_taken("mask", statement):
        return None
    fix = ctx.fix("Write through the mask", Applicability.UNSAFE, _FILLED, Scope.STATEMENT)
    text, mask = node.value.id, ctx.text(call.args[0])
    fix.insert_before(statement, f"mask = {fix.use('torch', at=node)}.as_tensor({mask}).to({text}.device)")
    view = f"mask.view(mask.shape + (1,) * ({text}.dim() - mask.dim()))"
    fix.replace(statement, f"{text}.masked_fill_({view}, {ctx.text(statement.value)})")
    return fix


def _are_places_of_turn(ctx: FileContext, item: ast.expr) -> bool:
    index = ctx.index
    made: list[ast.expr | None] = [item]
    if isinstance(item, ast.Name):
        made = [binding.value for binding in index.flow.reaching(item) if binding.kind == "assign"]
    for value in made:
        if isinstance(value, ast.Subscript):  # the places along the first dimension
            value = value.value
        asked = _asked_for_places(ctx, value) if isinstance(value, ast.Call) else None
        if asked is None or index.turn_code.turn_of(asked) is None or index.is_device_tensor(asked):
            return False  # what asks the device is told of itself
        names = [name for name in (asked, *index.tree.inside(asked)) if isinstance(name, ast.Name)]
        if not any(_is_of_turn(ctx, name) for name in names) and not index.changing_lengths.is_of_turn(asked):
            return False
    return bool(made)


def _is_asked_for_length(ctx: FileContext, node: ast.Subscript, name: ast.Name) -> bool:
    """Whether an index stands under ``if len(places) != 0:``: in some turns there are none, in others there are."""
    index = ctx.index
    bindings = index.flow.reaching(name)
    is_given = bool(bindings) and all(binding.kind == "parameter" for binding in bindings)
    if index.is_device_tensor(name) or not (is_given or _is_of_turn(ctx, name)):
        return False
    child: ast.AST = node
    for ancestor in index.tree.ancestors(node):
        if isinstance(ancestor, ast.If) and child in ancestor.body and _asks_whether_any(ctx, ancestor.test, name.id):
            return index.turn_code.turn_of(ancestor) is not None
        if isinstance(ancestor, FUNCTIONS):
            return False
        child = ancestor
    return False


def _asks_whether_any(ctx: FileContext, test: ast.expr, name: str) -> bool:
    """``len(places)``, ``len(places) != 0`` and ``len(places) > 0``"""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.NotEq | ast.Gt):
        limit = test.comparators[0]
        return isinstance(limit, ast.Constant) and limit.value == 0 and _asks_whether_any(ctx, test.left, name)
    if not isinstance(test, ast.Call) or len(test.args) != 1 or not isinstance(test.args[0], ast.Name):
        return False
    return ctx.index.qualified_name(test.func) == "builtins.len" and test.args[0].id == name


def _asked_for_places(ctx: FileContext, call: ast.Call) -> ast.expr | None:
    """What ``np.where(labels != 0)`` and ``(labels != 0).nonzero()`` tell the places of."""
    if call.keywords or len(call.args) > 1:
        return None
    if call.args:
        return call.args[0] if _tells_places(ctx, call.func) else None
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr == "nonzero"
    return call.func.value if is_method and isinstance(call.func, ast.Attribute) else None


def _tells_places(ctx: FileContext, func: ast.expr) -> bool:
    """Whether a function is one of `_PLACES`; ``from utils import *`` may have brought ``np`` along."""
    name = ctx.index.qualified_name(func)
    if name is None and ctx.index.names.has_star_import and isinstance(func, ast.Attribute):
        name = f"numpy.{func.attr}" if ctx.text(func.value) == "np" else None
    return name in _PLACES


def _is_of_turn(ctx: FileContext, name: ast.Name, depth: int = 0) -> bool:
    """Whether a variable is given its value in every turn, or a parameter such a variable."""
    index = ctx.index
    for binding in index.flow.reaching(name):
        if binding.kind == "loop" and binding.statement in index.turn_code.loops:
            return True
        if binding.kind == "assign" and index.turn_code.turn_of(binding.node) is not None:
            return True
        if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS) and depth < _DEPTH:
            given = index.definitions.arguments.of(binding.statement, binding.name)
            parts = [part for item in given for part in (item, *index.tree.inside(item))]
            if any(isinstance(part, ast.Name) and _is_of_turn(ctx, part, depth + 1) for part in parts):
                return True
    return False


def _asks_for_places(ctx: FileContext, node: ast.expr) -> bool:
    """Whether the places found are those of a mask that is written through, which is told there."""
    parent = ctx.index.parent(node)
    return isinstance(parent, ast.Subscript) and parent.slice is node and not isinstance(parent.ctx, ast.Load)


def _fix(ctx: FileContext, node: ast.expr) -> FixBuilder | None:
    """``x[mask].sum()`` and ``x[mask].mean()`` over all elements, with zeros where the mask is false."""
    from tpulint_rules.recompile._element_counts import count_elements
    from tpulint_rules.recompile._filled_places import filled_places
    from tpulint_rules.recompile._scattered_choice import scattered_choice

    index = ctx.index
    if (scattered := scattered_choice(ctx, node)) is not None:
        return scattered
    if (filled := filled_places(ctx, node)) is not None:
        return filled
    if isinstance(node, ast.Call) and (counted := count_elements(ctx, node)) is not None:
        return counted
    if isinstance(node, ast.Subscript):
        kept = _mask_on_host(ctx, node.slice)
        if kept is not None:
            return kept
        tensor, mask = node.value, node.slice
        same = index.masks.is_mask_of(tensor, mask)
        if not same or chooses_by_bytes(index, mask):
            return None
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "masked_select":
        is_function = index.qualified_name(node.func) is not None
        arguments = [*node.args] if is_function else [node.func.value, *node.args]
        if len(arguments) != 2 or node.keywords:
            return None
        tensor, mask = arguments
        same = index.masks.have_one_shape(tensor, mask)
    else:
        return None
    attribute = index.parent(node)
    outer = index.parent(attribute) if isinstance(attribute, ast.Attribute) else None
    if not isinstance(attribute, ast.Attribute) or not isinstance(outer, ast.Call) or outer.func is not attribute:
        return None
    if outer.args or outer.keywords or attribute.attr not in ("sum", "mean"):
        return None
    fix = ctx.fix(f"Take the {attribute.attr} over all elements", Applicability.UNSAFE, _SUM_ORDER)
    total = f"{fix.use('torch', at=node)}.where({ctx.text(mask)}, {ctx.text(tensor)}, 0).sum()"
    if attribute.attr == "sum":
        fix.replace(outer, total)
        return fix
    count = f"{fix.text(mask)}.sum()" if same else f"{fix.text(mask)}.expand_as({ctx.text(tensor)}).sum()"
    within = isinstance(index.parent(outer), ast.BinOp | ast.UnaryOp | ast.Attribute | ast.Subscript)
    fix.replace(outer, f"({total} / {count})" if within else f"{total} / {count}")
    return fix


def _mask_on_host(ctx: FileContext, mask: ast.expr) -> FixBuilder | None:
    """The mask left on the host, where it is made of numbers alone and moved only to choose by it."""
    from tpulint.semantic.sizes.host_masks import HostMasks

    index = ctx.index
    moves = HostMasks(index).moves_of(mask)
    if not moves:
        return None
    fix = ctx.fix("Leave the mask on the host", Applicability.UNSAFE, _ON_HOST)
    for call, dropped in moves:
        statement = index.statement_of(call)
        if isinstance(dropped, ast.keyword):
            fix.delete_argument(call, dropped)
        elif isinstance(call.func, ast.Attribute):
            name = call.func.value
            same = isinstance(statement, ast.Assign) and statement.value is call and isinstance(name, ast.Name)
            if same and isinstance(statement, ast.Assign) and index.text(statement.targets[0]) == index.text(name):
                fix.delete(statement)
            else:
                fix.replace_tail(call, name, "")
    return fix
