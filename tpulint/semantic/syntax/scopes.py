"""Scopes: the namespaces of a file, and which of them a piece of code runs in."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.nodes import FUNCTIONS, SCOPES
from tpulint.semantic.syntax.tree import SyntaxTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.syntax.bindings import Binding

_SCOPE_CLASSES = frozenset(SCOPES)


class Scope:
    """One namespace and the bindings made in it, in order of position."""

    __slots__ = ("bindings", "elsewhere", "node", "parent")

    def __init__(self, node: ast.AST, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        self.bindings: dict[str, list[Binding]] = {}
        self.elsewhere: dict[str, str] = {}
        """Names declared ``global`` or ``nonlocal`` here."""

    @property
    def is_module(self) -> bool:
        """Whether this is the outermost scope."""
        return self.parent is None


class Scopes:
    """The scopes of one file. Each is made when it is first asked for."""

    def __init__(self, tree: SyntaxTree) -> None:
        self._tree = tree
        self.module = Scope(tree.module, None)
        self._made: dict[ast.AST, Scope] = {tree.module: self.module}
        self._around: dict[ast.AST, Scope] = {}
        """Scope of what stands in a statement, where the statement makes none itself."""

    def around(self, node: ast.AST) -> Scope:
        """The scope in which code at this node runs. A definition belongs to the scope around it."""
        parents, known = self._tree.parents, self._around
        child, ancestor = node, parents.get(node)
        passed: list[ast.AST] = []
        scope = self.module
        while ancestor is not None:
            if ancestor in known:
                scope = known[ancestor]
                break
            if ancestor.__class__ in _SCOPE_CLASSES:
                if self._runs_in(ancestor, child, node):
                    scope = self.within(ancestor)
                    break
            elif isinstance(ancestor, ast.stmt):
                passed.append(ancestor)
            child, ancestor = ancestor, parents.get(ancestor)
        if node.__class__ is not ast.arg:
            for statement in passed:
                known[statement] = scope
        return scope

    def _runs_in(self, holder: ast.AST, child: ast.AST, node: ast.AST) -> bool:
        """Whether a node below ``child`` runs in the scope of ``holder``, not in the one around: headers do not."""
        if isinstance(holder, ast.Lambda):
            return child is not holder.args or isinstance(node, ast.arg)
        if isinstance(holder, FUNCTIONS):
            return isinstance(node, ast.arg) or self._tree.in_body(holder, child)
        return not isinstance(holder, ast.ClassDef) or self._tree.in_body(holder, child)

    def within(self, node: ast.AST) -> Scope:
        """The scope that a function, a class or a comprehension makes."""
        scope = self._made.get(node)
        if scope is None:
            scope = self._made[node] = Scope(node, self.around(node))
        return scope

    def release(self) -> None:
        """Let go of the bindings, which know their scopes as the scopes know them."""
        for scope in self._made.values():
            scope.bindings.clear()
