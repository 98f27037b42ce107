"""Loops that go on, or end, before they run a last batch that is smaller."""

from __future__ import annotations

import ast

from tpulint.semantic.loops.repeated_batches import loops_of_batch
from tpulint.semantic.syntax.nodes import LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_SIZES = ("len(", ".shape", ".size(")
_LENGTHS = ("len(", ".__len__(")


def leaves_out_smaller(index: SemanticIndex, loop: LoopNode) -> bool:
    """``if len(x) != batch_size: continue``, or ``if i == len(data) // batch_size: break`` of ``enumerate``."""
    if _skips_smaller(index, loop):
        return True
    around = loops_of_batch(index, loop)
    return bool(around) and all(_skips_smaller(index, one) for one in around)


def _skips_smaller(index: SemanticIndex, loop: LoopNode) -> bool:
    return _takes_one(index, loop) or any(isinstance(node, ast.If) and _asks(index, loop, node) for node in loop.body)


def _takes_one(index: SemanticIndex, loop: LoopNode) -> bool:
    """Whether a loop ends with its first turn: a ``break`` comes last, and nothing goes on in front of it."""
    goes_on = (
        node for node in index.tree.nodes_in(loop, ast.Continue, functions=False) if index.tree.loop_of(node) is loop
    )
    return isinstance(loop.body[-1], ast.Break) and next(goes_on, None) is None


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
    """Whether a variable is the number that ``enumerate`` gives a turn, from 0 on."""
    made = loop.iter if isinstance(loop, ast.For | ast.AsyncFor) else None
    if not isinstance(made, ast.Call) or index.qualified_name(made.func) != "builtins.enumerate":
        return False
    from_zero = len(made.args) == 1 and not made.keywords
    return from_zero and isinstance(node, ast.Name) and index.counters.of(loop) == node.id
