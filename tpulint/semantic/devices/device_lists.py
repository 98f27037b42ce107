"""Lists of the names of devices: ``["cpu", "cuda"]``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.semantic.syntax.tree import SyntaxTree


def lists_devices(node: ast.expr) -> bool:
    """Whether an expression lists names of devices and nothing else."""
    return all(_names_device(item) for one in _lists_in(node) for item in one.elts)


def is_chosen_among(tree: SyntaxTree, node: ast.expr) -> bool:
    """Whether a name is one of a list that is written in the place where one is chosen: ``["cuda:0", "cuda:1"][i]``."""
    sequence = tree.parents[node]
    chosen = tree.parents[sequence] if isinstance(sequence, ast.List | ast.Tuple) else None
    if not isinstance(chosen, ast.Subscript) or chosen.value is not sequence or isinstance(chosen.slice, ast.Slice):
        return False
    return lists_devices(chosen.value)


def lists_the_host(node: ast.expr) -> bool:
    """Whether an expression lists names of devices and nothing else, that of the host among them."""
    named = [item for one in _lists_in(node) for item in one.elts]
    return lists_devices(node) and "cpu" in [item.value for item in named if isinstance(item, ast.Constant)]


def _lists_in(node: ast.expr) -> Iterator[ast.List | ast.Tuple | ast.Set]:
    """The lists that a choice or a sum of lists is made of."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        yield node
    for part in (node.body, node.orelse) if isinstance(node, ast.IfExp) else ():
        yield from _lists_in(part)
    for part in (node.left, node.right) if isinstance(node, ast.BinOp) else ():
        yield from _lists_in(part)


def _names_device(node: ast.expr) -> bool:
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and re.fullmatch(r"(?:cpu|cuda|mps|xpu|xla)(?::\d+)?", text) is not None
