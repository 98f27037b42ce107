"""Modules that an ``nn.Sequential`` runs one after the other, and what a call of it gives them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.module_lists import SEQUENTIAL, ModuleLists

_DEPTH = 4
"""Rows within rows, and variables that they are kept in."""


class ModuleRows:
    """Questions about forward passes that this file defines."""

    def __init__(self, tree: SyntaxTree, names: Names, flow: Flow, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._lists = ModuleLists(tree, names, flow.bindings_of, definitions.returned_by)

    def begun_with(self, forward: FunctionNode, name: str) -> list[ast.expr]:
        """What calls give rows with a module of this forward pass in them, for the parameter that takes it.

        ``self.blocks(x)`` of ``self.blocks = nn.Sequential(Block(), Block())``: what the second is given is made of it.
        """
        taken = [argument.arg for argument in (*forward.args.posonlyargs, *forward.args.args)][1:2]
        owner = self._tree.class_of(forward)
        return self._begun.get(owner, []) if owner is not None and taken == [name] else []

    @cached_property
    def _begun(self) -> dict[ast.ClassDef, list[ast.expr]]:
        found: dict[ast.ClassDef, list[ast.expr]] = {}
        if not self._tree.source.has_any(("Sequential",)):
            return found
        for call in self._tree.calls:
            if len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred):
                for owner in dict.fromkeys(self._run_by(call.func)):
                    found.setdefault(owner, []).append(call.args[0])
        return found

    def _run_by(self, func: ast.expr) -> Iterator[ast.ClassDef]:
        if isinstance(func, ast.Name | ast.Attribute) and self._names.qualified(func) is None:
            for part in self._in_row(func, 0):
                yield from self._definitions.classes.made(part)

    def _in_row(self, node: ast.expr, depth: int) -> Iterator[ast.expr]:
        """The modules that a row runs; none for what is no row."""
        if depth > _DEPTH:
            return
        if self._is_row(node):
            yield from self._parts_of(node, depth)
        elif isinstance(node, ast.Call):
            made = self._definitions.function_called(node)
            for value in self._definitions.returned_by(made) if made is not None else ():
                yield from self._in_row(value, depth + 1)
        elif isinstance(node, ast.Name | ast.Attribute):
            values = [value for binding in self._flow.bindings_of(node) for value in self._values_of(binding)]
            if any(map(self._is_row, values)):
                yield from self._parts_of(node, depth)  # with what is appended to it
            for value in values:
                if not self._is_row(value):
                    yield from self._in_row(value, depth + 1)

    def _values_of(self, binding: Binding) -> list[ast.expr]:
        if binding.value is None:
            return []
        if binding.kind == "loop":  # `for stage in self.stages: x = stage(x)`
            return self._lists.gone_through(binding.value, binding.path)
        return [binding.value] if binding.kind == "assign" and not binding.path else []

    def _is_row(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self._names.qualified(node.func) == SEQUENTIAL

    def _parts_of(self, row: ast.expr, depth: int) -> Iterator[ast.expr]:
        for part in self._lists.parts_of(row):
            inner = list(self._in_row(part, depth + 1))
            yield from inner or [part]
