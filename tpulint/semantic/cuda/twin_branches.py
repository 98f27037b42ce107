"""Branches that do the same once some of their text is written otherwise."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

from tpulint.semantic.syntax.blocks import acts, is_elif

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def twin_branches(
    index: SemanticIndex, becomes: Mapping[ast.AST, str], gone: Collection[ast.stmt]
) -> dict[ast.expr, bool]:
    """Conditions of an ``if`` whose branches become the same, with the branch to keep: the one that stays as it is.

    ``becomes`` is the text of expressions and statements that are written otherwise, ``gone`` what is deleted.
    """
    written = {node: _parsed(index, node, text) for node, text in becomes.items()}
    found: dict[ast.expr, bool] = {}
    holders = [ancestor for node in becomes for ancestor in index.tree.ancestors(node) if isinstance(ancestor, ast.If)]
    for holder in dict.fromkeys(holders):
        if not holder.orelse or is_elif(index, holder) or isinstance(holder.orelse[0], ast.If):
            continue
        if acts(index, holder.test) or not _same_blocks(holder.body, holder.orelse, written, gone):
            continue
        changes = any(index.tree.encloses(item, node) for item in holder.body for node in becomes)
        found[holder.test] = not changes
    return found


_Written = Mapping[ast.AST, Sequence[ast.AST]]
"""What is to stand in the place of an expression, one other, or of a statement, one or more."""


def _parsed(index: SemanticIndex, node: ast.AST, text: str) -> Sequence[ast.AST]:
    if isinstance(node, ast.expr):
        return [ast.parse(text.strip(), mode="eval").body]
    begin = index.tree.start(node)
    indent = index.source.text[index.source.line_start(begin) : begin]  # which the lines below the first have, too
    import textwrap

    return ast.parse(textwrap.dedent(indent + text)).body


def _same_blocks(one: list[ast.stmt], two: list[ast.stmt], written: _Written, gone: Collection[ast.stmt]) -> bool:
    return any(item not in gone for item in one) and _same(one, two, written, gone)


def _same(one: object, two: object, written: _Written, gone: Collection[ast.stmt]) -> bool:
    """Whether two pieces of a tree are the same with the other texts in them."""
    if isinstance(one, list) and isinstance(two, list):
        left, right = ([part for item in items for part in _parts(item, written, gone)] for items in (one, two))
        return len(left) == len(right) and all(_same(a, b, written, gone) for a, b in zip(left, right, strict=True))
    if isinstance(one, ast.expr) and isinstance(two, ast.expr):
        (one,), (two,) = _parts(one, written, gone), _parts(two, written, gone)
    if isinstance(one, ast.AST) and isinstance(two, ast.AST):
        return type(one) is type(two) and all(
            _same(getattr(one, field, None), getattr(two, field, None), written, gone) for field in one._fields
        )
    return one == two


def _parts(item: object, written: _Written, gone: Collection[ast.stmt]) -> Sequence[object]:
    """What is to stand in the place of one part of a tree."""
    if not isinstance(item, ast.AST):
        return [item]
    return [] if item in gone else written.get(item, [item])
