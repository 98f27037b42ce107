"""Code that turns do not come to: what ends the program or the loop, messages of assertions, flags that are off."""

from __future__ import annotations

import ast

from tpulint.semantic.default_flags import literal
from tpulint.semantic.names import Names
from tpulint.semantic.tree import FUNCTIONS, LOOPS, SyntaxTree

ENDS = frozenset({"sys.exit", "builtins.exit", "builtins.quit", "os._exit"})
"""Functions that end the program."""


class PassedOver:
    """Answers about one file."""

    def __init__(self, tree: SyntaxTree, names: Names) -> None:
        self._tree = tree
        self._names = names

    def holds(self, node: ast.AST, within: ast.AST) -> bool:
        """Whether a node runs once at most, if ever, in all turns of a loop, or calls of a function, around it.

        ``if not ok: print(loss); raise ValueError(f"{loss}")``, ``assert ok, f"{loss}"``; in a loop also
        ``if done: print(loss); break``.
        """
        if any(self._tree.encloses(item, node) for item in self._tree.never_run):
            return True
        child = node
        for ancestor in self._tree.ancestors(node):
            if ancestor is within or isinstance(ancestor, FUNCTIONS):
                return False
            if isinstance(ancestor, ast.Assert) and child is ancestor.msg:
                return True
            if isinstance(ancestor, ast.If | ast.ExceptHandler) and isinstance(child, ast.stmt):
                if isinstance(ancestor, ast.If) and child in ancestor.body and self._is_off(ancestor.test):
                    return True
                last = self._tree.suite_of(child)[-1]
                if self._ends_program(last) or self._ends_loop(last, within):
                    return True
            child = ancestor
        return False

    def _ends_program(self, statement: ast.stmt) -> bool:
        """``raise``, ``sys.exit(1)``, ``assert False``"""
        if isinstance(statement, ast.Assert):
            return isinstance(statement.test, ast.Constant) and not statement.test.value
        call = statement.value if isinstance(statement, ast.Expr) else None
        is_end = isinstance(call, ast.Call) and self._names.qualified(call.func) in ENDS
        return is_end or isinstance(statement, ast.Raise)

    def _ends_loop(self, statement: ast.stmt, loop: ast.AST) -> bool:
        if isinstance(statement, ast.Return):
            return isinstance(loop, LOOPS)
        return isinstance(statement, ast.Break) and self._tree.loop_of(statement) is loop

    def _is_off(self, test: ast.expr) -> bool:
        """``if debug:`` with ``debug = False`` at the top of the module, which nothing changes."""
        bindings = self._names.bindings(test) if isinstance(test, ast.Name) else []
        only = bindings[0] if len(bindings) == 1 and bindings[0].kind == "assign" else None
        if only is None or only.path or only.value is None or literal(only.value) != (False,):
            return False
        return self._tree.parent(only.statement) is self._tree.module
