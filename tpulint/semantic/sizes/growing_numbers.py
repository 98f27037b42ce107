"""Numbers that statements add to, turn after turn: ``step += 1``, ``at = (at + 1) % size``."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import LOOPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def adds_to_itself(index: SemanticIndex, binding: Binding) -> bool:
    """Whether a statement adds to what it sets, ``at = at + 1``, or goes round: ``at = (at + 1) % size``."""
    value = binding.value
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mod):
        value = value.left
    if isinstance(value, ast.Call) and index.qualified_name(value.func) in ("builtins.min", "builtins.max"):
        # `rate = max(rate * 0.99, 0.1)`: another number for many turns
        value = next((item for item in value.args if isinstance(item, ast.BinOp)), None)
    return (
        isinstance(value, ast.BinOp)
        and isinstance(value.op, ast.Add | ast.Sub | ast.Mult | ast.Div)
        and any(index.text(side) == index.text(binding.node) for side in (value.left, value.right))
    )


def grows(index: SemanticIndex, binding: Binding, separates_turns: Callable[[ast.AST], bool]) -> bool:
    """Whether what a statement adds to a local number is still there in the next turn.

    Of a loop ``separates_turns`` tells whether each turn of it is a graph of its own.
    """
    loop = next((a for a in index.tree.ancestors(binding.statement) if isinstance(a, LOOPS)), None)
    if loop is None or not separates_turns(loop):
        return False  # an inner loop begins anew in every turn
    if index.turn_code.turn_of(binding.statement) is None:
        return False
    others = [b for b in binding.scope.bindings.get(binding.name, ()) if b is not binding]
    begun = [b for b in others if not index.tree.encloses(loop, b.node)]
    within = [b for b in others if b not in begun]
    # A stage of a training, `if turn > length: stage += 1`, is the same for many turns.
    is_of_each = not isinstance(index.parent(binding.statement), ast.If)
    return bool(begun) and all(
        b.kind == "augment" or adds_to_itself(index, b) or (is_of_each and goes_round(index, b, [binding]))
        for b in within
    )


def goes_round(index: SemanticIndex, binding: Binding, added: list[Binding]) -> bool:
    """Whether a number begins anew when it has come to an end: ``if self.at + n > self.size: self.at = 0``.

    So does a local one: ``if at >= len(order): at = 0``.
    """
    branch = index.parent(binding.statement)
    if not isinstance(binding.value, ast.Constant) or binding.path or not isinstance(branch, ast.If):
        return False
    parts = [node for node in ast.walk(branch.test) if isinstance(node, ast.Attribute | ast.Name)]
    asked = {index.text(node) for node in parts}
    return index.text(added[0].node) in asked if added else False
