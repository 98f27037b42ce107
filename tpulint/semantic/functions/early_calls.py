"""What may run before a statement: functions that the statements above it call, and what these call in turn."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.project.imported import Imported
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree

_KNOWN = ("torch.", "builtins.", "abc.", "typing.", "pytorch_lightning.", "lightning.")
"""Beginnings of the names of classes that call none of the methods that a script defines while they are made."""
_DEPTH = 5


class EarlyCalls:
    """Functions that are named above a statement, by their identifiers: rather one too many than one too few."""

    def __init__(self, tree: SyntaxTree, names: Names, definitions: Definitions, imported: Imported) -> None:
        self._tree = tree
        self._names = names
        self._definitions = definitions
        self._imported = imported
        self._reached: dict[ast.stmt, set[str]] = {}

    def may_run_before(self, function: FunctionNode, statement: ast.stmt) -> bool:
        """Whether what stands above a statement, in its function or module, may call a function of this file."""
        holder: ast.AST = self._tree.function_of(statement) or self._tree.module
        body = holder.body if isinstance(holder, (*FUNCTIONS, ast.Module)) else []
        above = [item for item in body if self._tree.start(item) <= self._tree.start(statement)]
        if above[-1] not in self._reached:
            self._reached[above[-1]] = self._reached_from(above)
        if function.name in self._reached[above[-1]]:
            return True
        owner = self._tree.class_of(function)
        if owner is None or not any(map(self._makes_base, above)):
            return False
        return any(self.may_be_run_while_made(base, function.name) for base in owner.bases)

    def may_be_run_while_made(self, base: ast.expr, name: str, depth: int = 0) -> bool:
        """Whether the ``__init__`` of a base class may call a method, which a class below it defines, by its name."""
        here = self._names.class_named(base)
        if here is not None:
            return self._calls_while_made(here, name, depth)
        other = self._imported.definition(base)
        if other is not None and isinstance(other.node, ast.ClassDef):
            return other.file.early_calls._calls_while_made(other.node, name, depth)
        return not (self._names.qualified(base) or "").startswith(_KNOWN)

    def _calls_while_made(self, owner: ast.ClassDef, name: str, depth: int) -> bool:
        start = self._definitions.method(owner, "__init__")
        if depth > _DEPTH or (start is not None and name in self._reached_from(start.body)):
            return True
        return any(self.may_be_run_while_made(base, name, depth + 1) for base in owner.bases)

    def _makes_base(self, statement: ast.stmt) -> bool:
        return any(
            isinstance(node, ast.Attribute) and node.attr == "__init__"
            for node in self._tree.inside(statement, functions=False)
        )

    def _reached_from(self, statements: Sequence[ast.stmt]) -> set[str]:
        found: set[str] = set()
        waiting = self._identifiers(statements)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                for function in self._functions.get(name, ()):
                    waiting += self._identifiers(function.body)
        return found

    @cached_property
    def _functions(self) -> dict[str, list[FunctionNode]]:
        """By what calls them: the name of a class stands for its ``__init__``."""
        found: dict[str, list[FunctionNode]] = {}
        for function in self._tree.functions:
            owner = self._tree.class_of(function)
            name = owner.name if function.name == "__init__" and owner is not None else function.name
            found.setdefault(name, []).append(function)
        return found

    def _identifiers(self, statements: Sequence[ast.stmt]) -> list[str]:
        """What statements read by name, bodies of the functions and classes that they define aside."""
        return [
            node.id if isinstance(node, ast.Name) else node.attr
            for statement in statements
            if not isinstance(statement, (*FUNCTIONS, ast.ClassDef))
            for node in self._tree.inside(statement, functions=False)
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
        ]
