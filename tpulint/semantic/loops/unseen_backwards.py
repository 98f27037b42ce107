"""Backward passes that nobody sees, ``loss = model(x, replay=True)``, of loops that clear gradients and update by them.

``optimizer.zero_grad()`` and ``optimizer.step()`` in every turn have no other sense.
"""

from __future__ import annotations

import ast

from tpulint.semantic.loops.gradient_switches import GradientSwitches
from tpulint.semantic.syntax.nodes import LoopNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.kinds import Kind, Kinds


class UnseenBackwards:
    """Answers about loops of one file in which no backward pass is found."""

    def __init__(self, tree: SyntaxTree, kinds: Kinds, modes: GradientSwitches) -> None:
        self._tree = tree
        self._kinds = kinds
        self._modes = modes

    def of(self, loop: LoopNode, updates: list[ast.Call]) -> ast.Call | None:
        """The last call of a module in front of an update, where the gradients are cleared in the loop as well."""
        update = next((one for one in updates if self._is_cleared(one, loop)), None)
        if update is None:
            return None
        runs = [
            call
            for call in self._tree.nodes_in(loop, ast.Call, functions=False)
            if isinstance(call, ast.Call)
            and call.args
            and self._kinds.value(call.func).kind is Kind.MODULE
            and self._tree.start(call) < self._tree.start(update)
            and not self._modes.is_under_no_grad(call)
        ]
        return max(runs, key=self._tree.start, default=None)

    def _is_cleared(self, update: ast.Call, loop: LoopNode) -> bool:
        """Whether an optimizer, known as one, is also told in the loop to forget its gradients."""
        func = update.func
        if not isinstance(func, ast.Attribute) or self._kinds.value(func.value).kind is not Kind.OPTIMIZER:
            return False
        return any(
            self._tree.encloses(loop, attribute) and ast.dump(attribute.value) == ast.dump(func.value)
            for attribute in self._tree.attributes_called("zero_grad")
        )
