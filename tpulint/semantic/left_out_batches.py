"""Loops that go on, or end, before they run a last batch that is smaller."""

from __future__ import annotations

import ast

from tpulint.semantic.tree import LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_SIZES = ("len(", ".shape", ".size(")
_LENGTHS = ("len(", ".__len__(")


def leaves_out_smaller(index: SemanticIndex, loop: LoopNode) -> bool:
    """``if len(x) != batch_size: continue``, or ``if i == len(data) // batch_size: break`` of ``enumerate``."""
    return any(isinstance(node, ast.If) and _asks(index, loop, node) for node in loop.body)


def _asks(index: SemanticIndex, loop: LoopNode, node: ast.If) -> bool:
    test, ends = node.test, isinstance(node.body[-1], ast.Continue | ast.Break)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not ends:
        return False
    if isinstance(test.ops[0], ast.NotEq | ast.Lt):
        return any(part in index.text(test) for part in _SIZES)
    if not isinstance(test.ops[0], ast.Eq | ast.GtE) or not isinstance(node.body[-1], ast.Break):
        return False
    whole = test.comparators[0]
    counts = isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.FloorDiv)
    return counts and _is_place(index, loop, test.left) and any(part in index.text(whole) for part in _LENGTHS)


def _is_place(index: SemanticIndex, loop: LoopNode, node: ast.expr) -> bool:
    """Whether a variable is the number that ``enumerate`` gives a turn."""
    if not isinstance(loop, ast.For | ast.AsyncFor) or not isinstance(loop.iter, ast.Call):
        return False
    first = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and loop.target.elts else None
    from_zero = index.qualified_name(loop.iter.func) == "builtins.enumerate" and len(loop.iter.args) == 1
    is_place = isinstance(first, ast.Name) and isinstance(node, ast.Name) and first.id == node.id
    return from_zero and is_place and not loop.iter.keywords
