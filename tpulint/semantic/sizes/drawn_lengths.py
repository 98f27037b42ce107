"""Lists that are as long as drawn numbers say, and batches that are made of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.sizes.drawn_numbers import draws_one
from tpulint.semantic.syntax.bindings import part_of
from tpulint.semantic.syntax.linear import Linear

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.batches.batch_makers import BatchMaker

_DEPTH = 6
_OF_THE_SAME_LENGTH = ("builtins.list", "builtins.tuple", "builtins.sorted")
_TENSORS = frozenset({
    "numpy.array", "numpy.asarray", "torch.as_tensor", "torch.tensor", "torch.FloatTensor", "torch.LongTensor",
})  # fmt: skip


def filled_by_draws(index: SemanticIndex, maker: BatchMaker) -> ast.expr | None:
    """What a batch is extended by, another number of elements for each: ``x.extend(words_around(word))``.

    None for batches of one length, as far as is seen.
    """
    found: list[ast.expr] = []
    for name in _given_on(index, maker):
        made = [one for one in index.flow.reaching(name) if one.kind != "augment"]
        starts = [part_of(one.value, one.path) if one.path else one.value for one in made]
        is_new = bool(made) and all(isinstance(start, ast.List) for start in starts)
        if is_new and all(index.tree.encloses(maker.loop, one.node) for one in made):
            found += [item for item in _added_to(index, maker.loop, name.id) if draw_of_length(index, item) is not None]
    return min(found, key=index.span, default=None)


def draw_of_length(index: SemanticIndex, node: ast.expr, depth: int = 0) -> ast.Call | None:
    """The draw that says how many elements a list has: ``random.randint(1, 5)`` for ``words[i - n : i]`` of it."""
    if depth > _DEPTH:
        return None
    parts: list[ast.expr] = []
    if isinstance(node, ast.Name):
        bindings = index.flow.reaching(node)
        if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path:
            parts = [bindings[0].value] if bindings[0].value is not None else []
    elif isinstance(node, ast.Call):
        function = index.definitions.function_called(node)
        if function is not None:
            parts = index.definitions.returned_by(function)
        elif index.qualified_name(node.func) in _OF_THE_SAME_LENGTH:
            parts = node.args[:1]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [node.left, node.right]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        counts = [side for side in (node.left, node.right) if not isinstance(side, ast.List)]
        return _draw_in(index, counts[0], depth) if len(counts) == 1 else None
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return _draw_between(index, node.slice, depth)
    return next((found for part in parts if (found := draw_of_length(index, part, depth + 1)) is not None), None)


def _draw_between(index: SemanticIndex, cut: ast.Slice, depth: int) -> ast.Call | None:
    """The draw that says how far the ends of a slice are apart: not where it begins, ``words[start : start + 5]``."""
    ends = [end for end in (cut.lower, cut.upper) if end is not None]
    apart = Linear(index, roughly=True).difference(cut.upper, cut.lower) if cut.upper and cut.lower else None
    parts = ends if apart is None else apart
    return next((found for part in parts if (found := _draw_in(index, part, depth)) is not None), None)


def _draw_in(index: SemanticIndex, node: ast.expr, depth: int) -> ast.Call | None:
    """The draw that a number is computed of."""
    if depth > _DEPTH:
        return None
    for part in (node, *index.tree.inside(node)):
        found: ast.Call | None = None
        if isinstance(part, ast.Call) and index.qualified_name(part.func) == "builtins.len" and len(part.args) == 1:
            found = draw_of_length(index, part.args[0], depth + 1)
        elif isinstance(part, ast.Call) and draws_one(index, part):
            found = part
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            values = [one.value for one in index.flow.reaching(part) if one.kind == "assign" and not one.path]
            draws = (_draw_in(index, value, depth + 1) for value in values if value is not None)
            found = next((draw for draw in draws if draw is not None), None)
        if found is not None:
            return found
    return None


def _given_on(index: SemanticIndex, maker: BatchMaker) -> Iterator[ast.Name]:
    """The lists that a generator yields, or makes tensors of as it does."""
    for node in index.tree.nodes_in(maker.loop, ast.Yield, functions=False) if maker.is_drawn else ():
        given = node.value if isinstance(node, ast.Yield) and index.tree.loop_of(node) is maker.loop else None
        for item in given.elts if isinstance(given, ast.Tuple) else [given]:
            while isinstance(item, ast.Call):
                if index.qualified_name(item.func) in _TENSORS and item.args:
                    item = item.args[0]
                else:
                    item = item.func.value if isinstance(item.func, ast.Attribute) else None
            if isinstance(item, ast.Name):
                yield item


def _added_to(index: SemanticIndex, loop: ast.AST, name: str) -> Iterator[ast.expr]:
    """What a loop extends a list by."""
    for node in index.tree.nodes_in(loop, ast.Call, ast.AugAssign, functions=False):
        if isinstance(node, ast.AugAssign):
            if isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name) and node.target.id == name:
                yield node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
            filled = node.func.value if node.func.attr == "extend" else None
            if isinstance(filled, ast.Name) and filled.id == name:
                yield node.args[0]
