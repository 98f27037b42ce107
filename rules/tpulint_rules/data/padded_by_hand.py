"""Collate functions that take the longest sample of each batch, and fill the others up to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint_rules.data._collate_functions import collate_functions

_MULTIPLE = 64
_MORE = (
    f"Batches get up to {_MULTIPLE - 1} more positions of padding: the same where model and loss leave padding out, "
    "else another training."
)
_FILLERS = frozenset({
    *(f"{package}.{name}" for package in ("torch", "numpy") for name in ("zeros", "ones", "full", "empty")),
    "torch.nn.functional.pad", "numpy.pad", "torch.LongTensor", "torch.FloatTensor",
})  # fmt: skip
_FILLING = frozenset({"new_zeros", "new_ones", "new_full", "new_empty", "resize_", "fill_"})


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    told: set[ast.AST] = set()
    for loader in index.loaders.all:
        if not (loader.feeds or loader.feeds_evaluation):
            continue
        for function in collate_functions(index, loader):
            for call in index.tree.inside(function):
                if not isinstance(call, ast.Call) or call in told or not _is_longest(ctx, call):
                    continue
                use = _filling(ctx, call)
                if use is None:
                    continue
                told.add(call)
                what = "training batch" if loader.feeds else "evaluation batch"
                yield ctx.finding(
                    call,
                    f"each {what} is filled up to its longest sample: "
                    "the step is compiled again for each length that occurs",
                    _fix(ctx, call),
                    certainty=Certainty.LIKELY,
                    related=(
                        (index.span(use), "the size of the batch"),
                        (index.span(loader.call), "collates its batches with it"),
                    ),
                )


def _is_longest(ctx: FileContext, call: ast.Call) -> bool:
    """``max(len(x) for x in batch)``, ``max(map(len, batch))``, ``max(lengths)``."""
    if ctx.index.qualified_name(call.func) != "builtins.max" or len(call.args) != 1 or call.keywords:
        return False
    return _is_lengths(ctx, call.args[0])


def _is_lengths(ctx: FileContext, node: ast.expr, depth: int = 0) -> bool:
    index = ctx.index
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return _is_length(ctx, node.elt)
    if isinstance(node, ast.Call):
        name = index.qualified_name(node.func)
        if name == "builtins.map" and node.args:
            return index.qualified_name(node.args[0]) == "builtins.len"
        return name in ("builtins.list", "builtins.tuple") and bool(node.args) and _is_lengths(ctx, node.args[0], depth)
    if isinstance(node, ast.Name) and depth < 2:
        values = [b.value for b in index.flow.reaching(node) if b.kind == "assign" and not b.path]
        return bool(values) and all(value is not None and _is_lengths(ctx, value, depth + 1) for value in values)
    return False


def _is_length(ctx: FileContext, node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        if ctx.index.qualified_name(node.func) == "builtins.len":
            return True
        return isinstance(node.func, ast.Attribute) and node.func.attr == "size" and len(node.args) == 1
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"


def _filling(ctx: FileContext, call: ast.Call) -> ast.AST | None:
    """Where the length becomes the size of a batch; None where it does not, or is rounded."""
    index = ctx.index
    parent = index.parent(call)
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or not isinstance(parent.targets[0], ast.Name):
        return _filled_by(ctx, call)
    target = parent.targets[0]
    scope = index.names.scope_of(target)
    if len(index.names.bindings_in(scope, target.id)) > 1:
        return None  # changed later on: rounded, or cut
    uses = index.names.loads(target.id, scope)
    if any(_is_rounding(ancestor) for use in uses for ancestor in index.tree.ancestors(use)):
        return None
    return next((found for use in uses if (found := _filled_by(ctx, use)) is not None), None)


def _filled_by(ctx: FileContext, node: ast.AST) -> ast.AST | None:
    """The call or product around an expression that makes a batch, or fills a sample, of that size."""
    index, child = ctx.index, node
    for ancestor in index.tree.ancestors(node):
        if isinstance(ancestor, ast.stmt) or _is_rounding(ancestor):
            return None
        if isinstance(ancestor, ast.BinOp) and isinstance(ancestor.op, ast.Mult):
            sides = (ancestor.left, ancestor.right)
            if any(isinstance(side, ast.List) and side is not child for side in sides):
                return ancestor
        if isinstance(ancestor, ast.Call):
            name = index.qualified_name(ancestor.func)
            if name in _FILLERS:
                return ancestor
            if isinstance(ancestor.func, ast.Attribute) and name is None and ancestor.func.attr in _FILLING:
                return ancestor
            if name in ("builtins.min", "builtins.max") and len(ancestor.args) > 1:
                return None  # cut, or no less than so much
        child = ancestor
    return None


def _is_rounding(node: ast.AST | None) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod)


def _fix(ctx: FileContext, call: ast.Call) -> FixBuilder:
    fix = ctx.fix(f"Fill up to multiples of {_MULTIPLE}", Applicability.UNSAFE, _MORE)
    rounded = f"-(-{ctx.text(call)} // {_MULTIPLE}) * {_MULTIPLE}"
    within = not isinstance(ctx.index.parent(call), ast.Assign | ast.Call | ast.Tuple | ast.keyword)
    fix.replace(call, f"({rounded})" if within else rounded)
    return fix
