"""Flags that the first turn lowers, ``if first: ...; first = False``: what stands behind runs in one turn of many."""

from __future__ import annotations

import ast
from collections.abc import Container
from functools import cached_property

from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, is_of_self
from tpulint.semantic.syntax.tree import SyntaxTree

_START = "__init__"


class LoweredFlags:
    """Answers about the conditions of one file."""

    def __init__(self, tree: SyntaxTree, names: Names) -> None:
        self._tree = tree
        self._names = names

    def let_through(self, branch: ast.If, loops: Container[ast.AST]) -> bool:
        """Whether the body of a branch runs in one turn only: it sets the flag, which nothing sets back there.

        ``if not self.started: self.start(x)`` of a method that says ``self.started = True`` as well.
        """
        parts = [branch.test]
        if isinstance(branch.test, ast.BoolOp) and isinstance(branch.test.op, ast.And):
            parts = branch.test.values
        flags = ((_flag_of(part), not _is_negated(part)) for part in parts)
        return any(self._is_lowered(flag, held, branch, branch.body, loops) for flag, held in flags)

    def exit_in_front(self, statement: ast.stmt, loops: Container[ast.AST]) -> ast.stmt | None:
        """``return`` of ``if done: return`` in front of a statement, in its block, where ``done = True`` stands behind.

        Or the ``continue`` of a loop.
        """
        suite = self._tree.suite_of(statement) if self._early else []
        for branch in suite[: self._tree.position_of(statement)] if suite else ():
            if isinstance(branch, ast.If) and branch in self._early:
                behind = suite[self._tree.position_of(branch) + 1 :]
                if self._is_lowered(_flag_of(branch.test), _is_negated(branch.test), branch, behind, loops):
                    return branch.body[-1]
        return None

    @cached_property
    def _early(self) -> set[ast.If]:
        """Questions for a flag alone by which turns of a loop, or calls of a function, go on early."""
        return {
            branch
            for branch in self._tree.conditions
            if isinstance(branch, ast.If)
            and isinstance(_flag_of(branch.test), ast.Name | ast.Attribute)
            and isinstance(branch.body[-1], ast.Return | ast.Continue)
            and isinstance(branch.body[-1], ast.Continue) is (self._tree.loop_of(branch) is not None)
        }

    def _is_lowered(
        self, flag: ast.expr, held: bool, branch: ast.If, run: list[ast.stmt], loops: Container[ast.AST]
    ) -> bool:
        """Whether these statements, which run where a branch finds a flag ``held`` or not, end that for good."""
        bindings = self._bindings(flag)
        values = [one.value.value if isinstance(one.value, ast.Constant) else None for one in bindings]
        if not all(value is True or value is False for value in values):
            return False
        ends = [one for one, value in zip(bindings, values, strict=True) if value is not held]
        starts = [one for one, value in zip(bindings, values, strict=True) if value is held]
        return (
            any(self._is_run_by(run, end.statement) for end in ends)
            and bool(starts)
            and not any(self._is_set_in_turns(start, branch, flag, loops) for start in starts)
        )

    def _bindings(self, flag: ast.expr) -> list[Binding]:
        if isinstance(flag, ast.Name):
            return self._names.bindings(flag)
        owner = self._tree.class_of(flag) if is_of_self(flag) else None
        return [] if owner is None or not isinstance(flag, ast.Attribute) else self._of_class(owner, flag.attr)

    def _of_class(self, owner: ast.ClassDef, name: str) -> list[Binding]:
        kept = self._names.attribute_bindings(owner, name)
        return [*kept, *self._names.bindings_in(self._names.scope_of(owner.body[0]), name)]

    def _is_run_by(self, block: list[ast.stmt], end: ast.AST) -> bool:
        """Whether a block sets a flag by a statement of its own, or calls the method that does."""
        if any(one is end for one in block):
            return True
        function = self._tree.function_of(end)
        return function is not None and any(
            isinstance(one, ast.Expr)
            and isinstance(one.value, ast.Call)
            and is_of_self(one.value.func)
            and one.value.func.attr == function.name
            and any(end is statement for statement in function.body)
            for one in block
        )

    def _is_set_in_turns(self, start: Binding, branch: ast.If, flag: ast.expr, loops: Container[ast.AST]) -> bool:
        """Whether turns may begin with the flag as it was: where it is set, in a turn or by anybody's call."""
        function = self._tree.function_of(start.statement)
        if isinstance(flag, ast.Attribute):
            return function is not None and function.name != _START
        around = [one for one in self._tree.ancestors(branch) if isinstance(one, (*LOOPS, *FUNCTIONS))]
        if function is self._tree.function_of(branch):
            nearest = next((one for one in around if one in loops or isinstance(one, FUNCTIONS)), None)
            return not isinstance(nearest, LOOPS) or self._tree.encloses(nearest, start.statement)
        holders = [one for one in self._tree.ancestors(start.statement) if isinstance(one, (*LOOPS, *FUNCTIONS))]
        is_around = function is None or any(one is function for one in around)
        return not is_around or any(one in loops for one in holders)


def _is_negated(test: ast.expr) -> bool:
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _flag_of(test: ast.expr) -> ast.expr:
    """``done`` of ``not done``"""
    return test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
