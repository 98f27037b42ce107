"""Reads whose number another may be taken for: ``{"aux": aux.item() if x is not None else 0}``."""

from __future__ import annotations

import ast

from tpulint.semantic.reads.reads import Read
from tpulint.semantic.syntax.tree import SyntaxTree


def choice_around(tree: SyntaxTree, read: Read) -> ast.IfExp | None:
    """The choice between a number that is read and one that is written out: ``loss.item() if x is not None else 0``.

    It asks whether something is given at all; any other condition may hold in few turns.
    """
    choice = tree.parents[read.node]
    if not isinstance(choice, ast.IfExp) or read.node is choice.test:
        return None
    other = choice.orelse if read.node is choice.body else choice.body
    is_asked = isinstance(choice.test, ast.Compare) and isinstance(choice.test.ops[0], ast.Is | ast.IsNot)
    return choice if is_asked and isinstance(other, ast.Constant) else None
