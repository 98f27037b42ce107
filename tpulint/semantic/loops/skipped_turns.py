"""Turns that go on early: ``if step % n != 0: continue`` lets what stands behind it run every n-th turn only."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable

from tpulint.semantic.syntax.nodes import LoopNode
from tpulint.semantic.syntax.tree import SyntaxTree

_SIZES = ("shape", "size")


class SkippedTurns:
    """The statements of one file that leave a turn early, and most turns with it."""

    def __init__(
        self, tree: SyntaxTree, is_interval: Callable[[ast.expr], bool], counts: Callable[[ast.expr], bool]
    ) -> None:
        self._tree = tree
        self.exits: dict[ast.If, ast.stmt] = {}
        """Conditions that leave most turns of a loop, or most calls of a function, and what leaves them.

        Found at once: what answers is not kept, for it keeps this.
        """
        for branch in tree.conditions:
            last = branch.body[-1] if isinstance(branch, ast.If) else None
            if not isinstance(branch, ast.If) or not isinstance(last, ast.Continue | ast.Return):
                continue
            is_of_loop = tree.loop_of(branch) is not None
            if is_of_loop is isinstance(last, ast.Continue) and holds_mostly(branch.test, is_interval, counts):
                self.exits[branch] = last

    def in_front(self, statement: ast.stmt, passed_over: Container[ast.AST]) -> ast.If | None:
        """The condition in front of a statement, in its block, behind which few turns come to it."""
        for branch, exit_ in self.exits.items():
            if exit_ not in passed_over and any(behind is statement for behind in self.behind(branch)):
                return branch
        return None

    def behind(self, branch: ast.If) -> list[ast.stmt]:
        """What a turn comes to, in the block of a condition, that does not go on early there."""
        return self._tree.suite_of(branch)[self._tree.position_of(branch) + 1 :]

    def of_whole_turns(self, loops: Iterable[LoopNode], works: Callable[[ast.AST], bool]) -> set[ast.stmt]:
        """What leaves turns of these loops before any work is done: turns that do none do not count."""
        found: set[ast.stmt] = set()
        for loop in loops if self.exits else ():
            for branch in self._tree.nodes_in(loop, ast.If, functions=False):
                if branch in self.exits and self._tree.loop_of(branch) is loop:
                    done = [node for node in loop.body if works(node)]
                    if done and all(self._tree.start(node) > self._tree.start(branch) for node in done):
                        found.add(self.exits[branch])
        return found


def holds_mostly(test: ast.expr, is_interval: Callable[[ast.expr], bool], counts: Callable[[ast.expr], bool]) -> bool:
    """``step % n != 0``, ``step % n``, ``not is_time``, ``step != 0``: false every n-th turn, or in one turn."""
    if isinstance(test, ast.BoolOp):
        any_or_all = any if isinstance(test.op, ast.Or) else all
        return any_or_all(holds_mostly(value, is_interval, counts) for value in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_interval(test.operand)
    if not isinstance(test, ast.Compare):
        return _is_remainder_of_count(test)
    if len(test.ops) != 1 or not isinstance(test.ops[0], ast.NotEq | ast.Gt):
        return False
    left, right = test.left, test.comparators[0]
    # `step % world_size != rank` deals the turns out to processes.
    if not isinstance(right, ast.Constant | ast.BinOp):
        return False
    if isinstance(test.ops[0], ast.Gt):
        return _is_remainder_of_count(left) and isinstance(right, ast.Constant) and right.value == 0
    return _is_remainder_of_count(left) or counts(left)


def _is_remainder_of_count(node: ast.expr) -> bool:
    """``step % n``, and not ``len(batch) % n``, which is 0 in every turn but the last."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mod) or isinstance(node.left, ast.Constant):
        return False
    return not any(
        isinstance(part, ast.Call) or (isinstance(part, ast.Attribute) and part.attr in _SIZES)
        for part in ast.walk(node.left)
    )
