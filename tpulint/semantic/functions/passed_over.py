"""Code that turns do not come to: what ends the program or the loop, messages of assertions, flags that are off.

And what is done in the first turn only, because there is nothing yet: ``if total is None: total = x.cpu()``.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.semantic.functions.default_flags import literal
from tpulint.semantic.syntax.bindings import Binding, element_of
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, is_of_self
from tpulint.semantic.syntax.tree import SyntaxTree

ENDS = frozenset({"sys.exit", "builtins.exit", "builtins.quit", "os._exit"})
"""Functions that end the program."""


def ends_program(names: Names, statement: ast.stmt) -> bool:
    """Whether a statement calls what ends the program: ``sys.exit()``."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and names.qualified(call.func) in ENDS


class PassedOver:
    """Answers about one file."""

    def __init__(self, tree: SyntaxTree, names: Names) -> None:
        self._tree = tree
        self._names = names

    def holds(self, node: ast.AST, within: ast.AST) -> bool:
        """Whether a node runs once at most, if ever, in all turns of a loop, or calls of a function, around it.

        ``if not ok: print(loss); raise ValueError(f"{loss}")``, ``assert ok, f"{loss}"``; in a loop also
        ``if done: print(loss); break``, and ``if kept is None: kept = x.cpu()`` where it was None in front of the loop.
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
                if (
                    isinstance(ancestor, ast.If)
                    and child in ancestor.body
                    and (self._is_off(ancestor.test) or self._is_filled(ancestor, within))
                ):
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
        return ends_program(self._names, statement) or isinstance(statement, ast.Raise)

    def _ends_loop(self, statement: ast.stmt, loop: ast.AST) -> bool:
        if isinstance(statement, ast.Return):
            return isinstance(loop, LOOPS)
        return isinstance(statement, ast.Break) and self._tree.loop_of(statement) is loop

    def _is_off(self, test: ast.expr) -> bool:
        """``if debug:`` with ``debug = False``, which nothing changes."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return any(map(self._is_off, test.values))
        bindings = self._names.bindings(test) if isinstance(test, ast.Name) else []
        only = bindings[0] if len(bindings) == 1 and bindings[0].kind == "assign" else None
        return only is not None and not only.path and only.value is not None and literal(only.value) == (False,)

    def _is_filled(self, branch: ast.If, within: ast.AST) -> bool:
        """``if kept is None: kept = x``, where turns of the loop around make it None only under a condition, if at all.

        ``if step % n == 0: write(kept); kept = None``
        """
        test = branch.test
        if not isinstance(within, LOOPS) or not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Is):
            return False
        if literal(test.comparators[-1]) != (None,) or len(test.ops) > 1:
            return False
        bindings = self._bindings_of(test.left)
        given = ((one, element_of(one)) for one in bindings)
        emptied = [one for one, value in given if value is None or literal(value) == (None,)]
        is_filled = any(one not in emptied and self._tree.parent(one.statement) is branch for one in bindings)
        if not is_filled or not emptied:
            return False
        return all(one.kind == "assign" and self._is_now_and_then(one.statement, within) for one in emptied)

    def _bindings_of(self, node: ast.expr) -> Sequence[Binding]:
        if isinstance(node, ast.Name):
            return self._names.bindings(node)
        owner = self._tree.class_of(node)
        return self._names.attribute_bindings(owner, node.attr) if owner is not None and is_of_self(node) else ()

    def _is_now_and_then(self, statement: ast.AST, loop: ast.AST) -> bool:
        """Whether a statement does not run in every turn of a loop, be it by a call there."""
        around = self._tree.function_of(statement)
        if around not in (None, self._tree.function_of(loop)):
            return False
        return not self._tree.encloses(loop, statement) or isinstance(self._tree.parent(statement), ast.If)
