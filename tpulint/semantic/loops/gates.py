"""Gates: conditions that let what stands behind them run only every n-th turn of a loop, or rarely."""

from __future__ import annotations

import ast
import re
from collections.abc import Container
from functools import cached_property

from tpulint.semantic.functions.default_flags import DefaultFlags, catches_failure
from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.loops.counters import Counters
from tpulint.semantic.loops.intervals import Intervals, is_remainder
from tpulint.semantic.loops.skipped_turns import SkippedTurns, holds_mostly
from tpulint.semantic.syntax.lowered_flags import LoweredFlags
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, is_of_self
from tpulint.semantic.syntax.tree import SyntaxTree

_BATCHES = re.compile(r"(?i)loader|data|batch|iter|epoch|step")
"""What stands in names of what a training goes through, and not one step of it."""


class Gates:
    """The gates of one file."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        counters: Counters,
        flags: DefaultFlags,
        definitions: Definitions,
        intervals: Intervals,
    ) -> None:
        self._tree = tree
        self._names = names
        self._counters = counters
        self._flags = flags
        self._definitions = definitions
        self._intervals = intervals
        self._lowered = LoweredFlags(tree, names)

    def side_of(self, branch: ast.If) -> list[ast.stmt] | None:
        """The block of an ``if`` that runs every n-th turn only: its body, or what stands under ``else``."""
        if self._intervals.hold(branch.test):
            return branch.body
        return branch.orelse if branch.orelse and self._holds_mostly(branch.test) else None

    def above(self, node: ast.AST, loops: Container[ast.AST], passed_over: Container[ast.AST] = ()) -> ast.AST | None:
        """The ``if`` (or ``and``) between a node and the nearest of these loops that is such a gate; None for none.

        In place of one that turns go on early by, the ``continue``, since it holds nothing. Those ``passed_over`` are
        none.
        """
        child = node
        for ancestor in self._tree.ancestors(node):
            early = self._skipped_in_front(child, loops, passed_over)
            if early is not None:
                return early
            if isinstance(ancestor, FUNCTIONS) or ancestor in loops:
                return None
            if (
                isinstance(ancestor, ast.If | ast.IfExp)
                and ancestor not in passed_over
                and self._is_let_through(ancestor, child, loops)
                and not self._asks_for_part(ancestor, loops)
                and not self._asks_for_item(ancestor, loops)
            ):
                return ancestor
            if isinstance(ancestor, ast.If) and (
                self._flags.rule_out(ancestor, child)
                or (self._tree.in_body(ancestor, child) and self._lowered.let_through(ancestor, loops))
            ):
                return ancestor
            if isinstance(ancestor, ast.Match) and self._is_case_of_remainder(ancestor, child):
                return child
            if isinstance(ancestor, ast.ExceptHandler) and catches_failure(self._tree, ancestor):
                return ancestor
            if isinstance(ancestor, ast.BoolOp) and isinstance(ancestor.op, ast.And) and isinstance(child, ast.expr):
                before = ancestor.values[: ancestor.values.index(child)]
                if any(self._intervals.hold(value) for value in before):
                    return ancestor
            child = ancestor
        return None

    @cached_property
    def skipped(self) -> SkippedTurns:
        """Turns that go on early."""
        return SkippedTurns(self._tree, self._intervals.hold, self._intervals.counts)

    def _skipped_in_front(
        self, node: ast.AST, loops: Container[ast.AST], passed_over: Container[ast.AST]
    ) -> ast.stmt | None:
        """The ``continue`` or ``return`` in front of a statement, in its block, by which most turns go on early."""
        if not isinstance(node, ast.stmt):
            return None
        if (early := self._lowered.exit_in_front(node, loops)) is not None:
            return early
        if not self.skipped.exits:
            return None
        branch = self.skipped.in_front(node, passed_over)
        if branch is None or self._asks_for_part(branch, loops) or self._asks_for_item(branch, loops):
            return None
        return self.skipped.exits[branch]

    def _is_let_through(self, branch: ast.If | ast.IfExp, child: ast.AST, loops: Container[ast.AST]) -> bool:
        """Whether a direct child of a branch runs every n-th turn only: ``loss.item() if step % n == 0 else None``."""
        is_statement = isinstance(branch, ast.If)
        if self._tree.in_body(branch, child) if is_statement else child is branch.body:
            return self._intervals.hold(branch.test) or self._asks_for_turn(branch.test, loops)
        is_else = child in branch.orelse if isinstance(branch, ast.If) else child is branch.orelse
        return is_else and self._holds_mostly(branch.test)

    def _holds_mostly(self, test: ast.expr) -> bool:
        return holds_mostly(test, self._intervals.hold, self._intervals.counts)

    def _is_case_of_remainder(self, match: ast.Match, case: ast.AST) -> bool:
        """``match step % n: case 0:``"""
        return (
            isinstance(case, ast.match_case)
            and isinstance(case.pattern, ast.MatchValue)
            and is_remainder(match.subject)
        )

    def _asks_for_part(self, branch: ast.If | ast.IfExp, loops: Container[ast.AST]) -> bool:
        """``for i, part in enumerate(batch): if i == 0:`` within such a loop: one part of every batch."""
        around = [loop for loop in self._tree.ancestors(branch) if isinstance(loop, ast.For)][:2]
        if len(around) < 2 or around[0] in loops or around[1] not in loops:
            return False
        dealt = {node.id for node in ast.walk(around[1].target) if isinstance(node, ast.Name)}
        parts = {node.id for node in ast.walk(around[0].iter) if isinstance(node, ast.Name)}
        counter = self._counters.of(around[0])
        return bool(dealt & parts) and any(
            isinstance(node, ast.Name) and node.id == counter for node in ast.walk(branch.test)
        )

    def _asks_for_item(self, branch: ast.If | ast.IfExp, loops: Container[ast.AST]) -> bool:
        """``for i, one in enumerate(outputs): if i % 3 == 0:``, a loop that a call of its function runs to the end."""
        loop = next((one for one in self._tree.ancestors(branch) if isinstance(one, (*LOOPS, *FUNCTIONS))), None)
        if not isinstance(loop, ast.For) or loop in loops or self._tree.loop_of(loop) is not None:
            return False
        listed = loop.iter.args[0] if isinstance(loop.iter, ast.Call) and len(loop.iter.args) == 1 else None
        name = self._names.qualified(loop.iter.func) if isinstance(loop.iter, ast.Call) else None
        if name == "builtins.range" and isinstance(listed, ast.Call) and len(listed.args) == 1:
            is_length = self._names.qualified(listed.func) == "builtins.len"
            listed = listed.args[0] if is_length else None
        elif name != "builtins.enumerate":
            return False
        if not isinstance(listed, ast.Name) or _BATCHES.search(listed.id) or self._tree.function_of(loop) is None:
            return False
        counter = self._counters.of(loop)
        return any(isinstance(node, ast.Name) and node.id == counter for node in ast.walk(branch.test))

    def _asks_for_turn(self, test: ast.expr, loops: Container[ast.AST]) -> bool:
        """``if step == 0:`` of a parameter for which each call gives the number of a turn of one of these loops."""
        if isinstance(test, ast.BoolOp):
            return isinstance(test.op, ast.And) and any(self._asks_for_turn(value, loops) for value in test.values)
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
            return False
        return any(self._is_given_turn(side, loops) for side in (test.left, test.comparators[0]))

    def _is_given_turn(self, node: ast.expr, loops: Container[ast.AST]) -> bool:
        bindings = self._names.bindings(node) if isinstance(node, ast.Name) else []
        function = bindings[0].statement if len(bindings) == 1 and bindings[0].kind == "parameter" else None
        if not isinstance(function, FUNCTIONS):
            return False
        given = self._definitions.arguments.of(function, bindings[0].name)
        return bool(given) and all(self._numbers_turn(item, loops) for item in given)

    def _numbers_turn(self, node: ast.expr, loops: Container[ast.AST]) -> bool:
        """Whether a name, or ``self.step``, counts the turns of one of these loops, which is around it."""
        around = [one for one in self._tree.ancestors(node) if isinstance(one, LOOPS) and one in loops]
        if isinstance(node, ast.Name):
            return any(self._counters.of(loop) == node.id for loop in around)
        return bool(around) and is_of_self(node) and self._intervals.counts(node)
