"""Calls of modules of one file, by the forward pass that they run: of variables, attributes and elements of lists."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.passed_arguments import arguments_given, given_around
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.module_lists import ModuleLists

_FORWARD = "forward"


class ModuleCalls:
    """Questions about forward passes that this file defines."""

    def __init__(self, tree: SyntaxTree, names: Names, flow: Flow, definitions: Definitions) -> None:
        self._tree = tree
        self._flow = flow
        self._definitions = definitions
        self._lists = ModuleLists(tree, names, flow.bindings_of, definitions.returned_by)

    def given_for(self, forward: FunctionNode, name: str) -> list[ast.expr]:
        """Expressions that calls of modules pass for a parameter of their forward pass."""
        calls = self._calls.get(forward, ())
        return [item for call in calls for given, item in arguments_given(call, forward, True) if given == name]

    def unpacked_for(self, forward: FunctionNode, name: str) -> list[tuple[ast.expr, int | None]]:
        """What such calls unpack into a parameter, at which place, or give behind that: ``criterion(*outputs, y)``."""
        calls = self._calls.get(forward, ())
        return [(item, at) for call in calls for given, item, at in given_around(call, forward, True) if given == name]

    def given_at(self, forward: FunctionNode, at: int) -> list[ast.expr]:
        """What calls of modules give at a place of ``*inputs`` of their forward pass."""
        before = len([*forward.args.posonlyargs, *forward.args.args]) - 1
        given = [call.args for call in self._calls.get(forward, ())]
        whole = [items for items in given if not any(isinstance(item, ast.Starred) for item in items)]
        return [items[before + at] for items in whole if 0 <= at < len(items) - before]

    def run_by(self, call: ast.Call) -> list[FunctionNode]:
        """Forward passes of which a call may run one."""
        return self._runs.get(call, [])

    @cached_property
    def _runs(self) -> dict[ast.Call, list[FunctionNode]]:
        found: dict[ast.Call, list[FunctionNode]] = {}
        for run, calls in self._calls.items():
            for call in calls:
                found.setdefault(call, []).append(run)
        return found

    @cached_property
    def _calls(self) -> dict[FunctionNode, list[ast.Call]]:
        found: dict[FunctionNode, list[ast.Call]] = {}
        for call in self._tree.calls:
            for owner in self.classes_called(call.func):
                run = self._definitions.method(owner, _FORWARD) if self._definitions.is_module_class(owner) else None
                if run is not None:
                    found.setdefault(run, []).append(call)
        return found

    def classes_called(self, func: ast.expr) -> tuple[ast.ClassDef, ...]:
        """The classes of this file of which what is called may be: ``layer(x)`` of ``for layer in self.layers``.

        ``Loss()(x, y)`` makes one and calls it.
        """
        if isinstance(func, ast.Call):
            return self._definitions.classes.made(func)
        if not isinstance(func, ast.Name | ast.Attribute | ast.Subscript):
            return ()
        found = () if isinstance(func, ast.Subscript) else self._definitions.classes.of_variable(func)
        return found or tuple(owner for part in self._elements(func) for owner in self._definitions.classes.made(part))

    def _elements(self, func: ast.expr) -> Iterator[ast.expr]:
        if isinstance(func, ast.Subscript):
            key = func.slice.value if isinstance(func.slice, ast.Constant) else None
            yield from self._lists.parts_of(func.value) or self._lists.entries_of(func.value, key)
        for binding in self._flow.reaching(func) if isinstance(func, ast.Name) else ():
            if binding.kind == "loop" and binding.value is not None:
                yield from self._lists.gone_through(binding.value, binding.path)
