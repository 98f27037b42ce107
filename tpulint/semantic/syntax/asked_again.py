"""Conditions that are asked once more in the same block: ``if cuda: y = y.cuda()``, then ``if cuda: y = y.cpu()``."""

from __future__ import annotations

import ast
from itertools import pairwise

from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name

_SAME_ANSWERS = ("is_available", "isinstance")
"""Last parts of the names of what answers alike whenever it is asked the same."""


class AskedAgain:
    """Answers about one file, whose ``Flow`` asks."""

    def __init__(self, tree: SyntaxTree, names: Names) -> None:
        self._tree = tree
        self._names = names
        self._questions: dict[ast.If, str] = {}

    def without_bound_anew(self, bindings: list[Binding], use: ast.AST) -> list[Binding]:
        """Those of the bindings of a variable that reach a use, for all that a condition binds anew in between."""
        asked: dict[str, list[tuple[Binding, ast.If]]] = {}
        for one in bindings:
            if (branch := self._branch_of(one)) is not None:
                asked.setdefault(self._question(branch), []).append((one, branch))
        covered: set[Binding] = set()
        for same in asked.values():
            same.sort(key=lambda pair: self._tree.start(pair[1]))
            # Each by the next one: less is set in between than up to those behind that.
            for (one, front), (_, behind) in pairwise(same):
                if front is not behind and self._tree.stands_before(behind, use) and self._are_alike(front, behind):
                    covered.add(one)
        return [binding for binding in bindings if binding not in covered]

    def _question(self, branch: ast.If) -> str:
        if branch not in self._questions:
            self._questions[branch] = ast.dump(branch.test)
        return self._questions[branch]

    def _branch_of(self, binding: Binding) -> ast.If | None:
        """The ``if`` that binds a variable in its body, and does nothing else where it is not taken."""
        branch = self._tree.parents.get(binding.statement) if binding.kind == "assign" else None
        return branch if isinstance(branch, ast.If) and not branch.orelse else None

    def _are_alike(self, front: ast.If, behind: ast.If) -> bool:
        """Whether two branches of one block ask the same, with the same answer: nothing sets its variables between."""
        suite = self._tree.suite_of(behind)
        if self._tree.suite_of(front) is not suite:
            return False
        parts = (front.test, *self._tree.inside(front.test))
        if any(isinstance(node, ast.Call) and last_name(node.func) not in _SAME_ANSWERS for node in parts):
            return False
        names = [node for node in parts if isinstance(node, ast.Name)]
        begin, end = self._tree.start(front), self._tree.start(behind)
        made = (one.node for name in names for one in self._names.bindings(name))
        return not any(begin < self._tree.start(node) < end for node in made)
