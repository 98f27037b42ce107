"""From where on at the top of a file its functions may run: what was bound anew before that, they never see."""

from __future__ import annotations

import ast
from functools import cached_property

from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.tree import SyntaxTree

_DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
_READ_ALL = ("globals", "vars", "eval", "exec", "locals")
"""By these a function is called by a name that nobody sees."""
_RUN_ONCE = (ast.If, ast.With)


class FirstRuns:
    """Answers about one file. A name counts as a call: rather too early than too late."""

    def __init__(self, tree: SyntaxTree) -> None:
        self._tree = tree
        self._starts: dict[ast.stmt, ast.stmt] = {}

    def of(self, node: ast.AST) -> ast.stmt:
        """The first statement at the top of the file, or in a branch there, that may run the code of a function.

        Where nothing in the file names the function it is the last one: others import it, and all of the file has run.
        """
        home = self._top_of(node)
        start = self._starts.get(home)
        if start is None:
            start = self._starts[home] = self._start_of(home)
        return start

    def _start_of(self, home: ast.stmt) -> ast.stmt:
        if not isinstance(home, _DEFINITIONS) or home.decorator_list or self._names_all:
            return home  # a lambda, and what a decorator may hand to others
        end = self._tree.end(home)
        runs = [node for node in self._runs(home.name) if self._tree.start(node) >= end]
        if not runs:
            return self._tree.module.body[-1]
        first = min(runs, key=self._tree.start)
        start = self._top_of(first)
        while isinstance(start, _RUN_ONCE):
            inner = self._tree.child_towards(start, first)
            if not isinstance(inner, ast.stmt):
                break  # in the condition
            suite = self._tree.suite_of(inner)
            if any(self._tree.encloses(start, node) and self._block_of(start, node) is not suite for node in runs):
                break  # in both branches
            start = inner
        return start

    def _block_of(self, holder: ast.stmt, node: ast.AST) -> list[ast.stmt] | None:
        child = self._tree.child_towards(holder, node)
        return self._tree.suite_of(child) if isinstance(child, ast.stmt) else None

    def _runs(self, name: str) -> list[ast.Name]:
        """Where code outside of functions reads a name that may lead to a function, be it through other functions."""
        found: list[ast.Name] = []
        reached, waiting = {name}, [name]
        while waiting:
            for node in self._tree.names_called(waiting.pop()):
                holder = self._top_of(node)
                if not isinstance(node.ctx, ast.Load):
                    continue
                if self._tree.function_of(node) is None:
                    found.append(node)
                if isinstance(holder, _DEFINITIONS) and holder.name not in reached:
                    reached.add(holder.name)
                    waiting.append(holder.name)
        return found

    def _top_of(self, node: ast.AST) -> ast.stmt:
        top = node
        for ancestor in self._tree.ancestors(node):
            if not isinstance(ancestor, ast.Module):
                top = ancestor
        assert isinstance(top, ast.stmt)
        return top

    @cached_property
    def _names_all(self) -> bool:
        return any(self._tree.names_called(name) for name in _READ_ALL)
