"""Branches that do the same once some of their text is written otherwise."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from tpulint.semantic.blocks import acts, is_elif

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def twin_branches(
    index: SemanticIndex, becomes: Mapping[ast.AST, str], gone: Collection[ast.stmt]
) -> dict[ast.expr, bool]:
    """Conditions of an ``if`` whose branches become the same, with the branch to keep: the one that stays as it is.

    ``becomes`` is the text of expressions and statements that are written otherwise, ``gone`` what is deleted.
    """
    found: dict[ast.expr, bool] = {}
    holders = [ancestor for node in becomes for ancestor in index.tree.ancestors(node) if isinstance(ancestor, ast.If)]
    for holder in dict.fromkeys(holders):
        if not holder.orelse or is_elif(index, holder) or isinstance(holder.orelse[0], ast.If):
            continue
        if acts(index, holder.test) or not _same_blocks(holder.body, holder.orelse, becomes, gone):
            continue
        changes = any(index.tree.encloses(item, node) for item in holder.body for node in becomes)
        found[holder.test] = not changes
    return found


def _same_blocks(
    one: list[ast.stmt], two: list[ast.stmt], becomes: Mapping[ast.AST, str], gone: Collection[ast.stmt]
) -> bool:
    return any(item not in gone for item in one) and _same(one, two, becomes, gone)


def _same(one: object, two: object, becomes: Mapping[ast.AST, str], gone: Collection[ast.stmt]) -> bool:
    """Whether two pieces of a tree are the same with the other texts in them."""
    one, two = _rewritten(one, becomes), _rewritten(two, becomes)
    if isinstance(one, list) and isinstance(two, list):
        left, right = [item for item in one if item not in gone], [item for item in two if item not in gone]
        return len(left) == len(right) and all(_same(a, b, becomes, gone) for a, b in zip(left, right, strict=True))
    if isinstance(one, ast.AST) and isinstance(two, ast.AST):
        return type(one) is type(two) and all(
            _same(getattr(one, field, None), getattr(two, field, None), becomes, gone) for field in one._fields
        )
    return one == two


def _rewritten(node: object, becomes: Mapping[ast.AST, str]) -> object:
    if not isinstance(node, ast.AST) or node not in becomes:
        return node
    body = ast.parse(becomes[node].strip()).body
    if len(body) != 1:
        return None
    return body[0].value if isinstance(node, ast.expr) and isinstance(body[0], ast.Expr) else body[0]
