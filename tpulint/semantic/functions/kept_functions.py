"""Functions of other files that variables, attributes, parameters and lists of one file hold."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator

from tpulint.semantic.functions.passed_arguments import arguments_given, defaults_of
from tpulint.semantic.project.handed_objects import HandedObjects
from tpulint.semantic.project.other_files import Definition, all_of, returned
from tpulint.semantic.project.registries import registered_by_name
from tpulint.semantic.syntax.bindings import Binding, element_of
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.values.module_lists import container_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.project.imported import Imported

_DEPTH = 6
_PARTIAL = "functools.partial"
_MOST_CHOICES = 24
"""Functions of a module, one of which an option names."""


class KeptFunctions:
    """Answers about one file, whose ``Imported`` asks. A list stands for the functions in it."""

    def __init__(
        self,
        names: Names,
        flow: Flow,
        imported: Imported,
        handed: HandedObjects,
        arguments_for: Callable[[FunctionNode, str], list[ast.expr]],
        returned_by: Callable[[FunctionNode], list[ast.expr]],
    ) -> None:
        self._names = names
        self._flow = flow
        self._imported = imported
        self._handed = handed
        self._arguments_for = arguments_for
        self._returned_by = returned_by

    def of(self, node: ast.expr, depth: int = 0) -> tuple[Definition, ...]:
        """The functions of other files of which an expression is one; none where it may be another."""
        if depth > _DEPTH:
            return ()
        if isinstance(node, ast.IfExp):
            return self._of_each([node.body, node.orelse], depth)
        if isinstance(node, ast.List | ast.Tuple):
            return self._of_each(node.elts, depth)
        if isinstance(node, ast.ListComp):
            return self.of(node.elt, depth + 1)
        if isinstance(node, ast.Call | ast.Subscript):
            noted = registered_by_name(self._imported, node)
            if noted:
                return tuple(noted) if len(noted) <= _MOST_CHOICES else ()
        if isinstance(node, ast.Call):
            if self._names.qualified(node.func) == _PARTIAL:
                return self._of_each(node.args, depth) if len(node.args) == 1 else ()
            return tuple(self._chosen(node)) or self._made(node, depth) or self._given_here(node, depth)
        if isinstance(node, ast.Subscript):
            return self._in_dictionary(node)
        if not isinstance(node, ast.Name | ast.Attribute):
            return ()
        function = self._imported.definition(node)
        if function is not None:
            return (function,) if isinstance(function.node, FUNCTIONS) else ()
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Subscript):
            return self._in_dictionary(node.value, node.attr)
        if isinstance(node, ast.Attribute) and node.attr == "apply":
            applied = self._imported.applied(node)
            return () if applied is None else (applied,)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Call):
            members = self._imported.chosen_modules.members(node.value, node.attr)
            if members:
                is_known = len(members) <= _MOST_CHOICES and not any(item.is_class for item in members)
                return tuple(members) if is_known else ()
        bindings = self._flow.bindings_of(node)
        if isinstance(node, ast.Attribute) and not bindings:
            kept = self._handed.kept_by_base(node)
            parts = [() if value is None else self._in_file(file).of(value, depth + 1) for file, value in kept]
        else:
            parts = [self._bound(binding, depth + 1) for binding in bindings]
        return all_of(parts)

    def _in_file(self, file: SemanticIndex | None) -> KeptFunctions:
        return self if file is None else file.imported.functions

    def _of_each(self, nodes: list[ast.expr], depth: int) -> tuple[Definition, ...]:
        return all_of([self.of(item, depth + 1) for item in nodes])

    def _bound(self, binding: Binding, depth: int) -> tuple[Definition, ...]:
        if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
            given = self._arguments_for(binding.statement, binding.name)
            here = self._of_each(given, depth)
            if given and not here:
                return ()
            handed = (Definition(*item) for item in self._handed.functions(binding.statement, binding.name))
            return tuple(dict.fromkeys((*here, *handed)))
        value = binding.value
        if binding.kind == "loop" and value is not None:
            value = container_of(self._names, value, binding.path)
        else:
            value = element_of(binding) if binding.kind == "assign" else None
        return () if value is None else self.of(value, depth)

    def _in_dictionary(self, node: ast.Subscript, member: str = "") -> tuple[Definition, ...]:
        """``METRICS[name]``: any of a dictionary that is written out, here or in another file.

        ``SETTINGS[name].parse`` is a function of one of the modules in it.
        """
        if isinstance(node.slice, ast.Constant):
            return ()  # one of them, and the others do not run
        found: list[tuple[Definition, ...]] = []
        for others, values, file in self._imported.classes.chosen.dictionaries(node.value):
            for value in values:
                item = others.definition_in(value, file)
                if member and item is not None:
                    is_file = isinstance(item.node, ast.Module)
                    item = item.file.imported.exported(member, item.file) if is_file else None
                found.append((item,) if item is not None and isinstance(item.node, FUNCTIONS) else ())
        return all_of(found) if len(found) <= _MOST_CHOICES else ()

    def _made(self, call: ast.Call, depth: int) -> tuple[Definition, ...]:
        """``losses.get_step(train=True)``: the function that one of another file returns, defined in it perhaps."""
        maker = self._imported.called(call)
        if maker is None or not isinstance(maker.node, FUNCTIONS):
            return ()
        made = all_of([_given_back(maker.file, value, depth + 1) for value in returned(maker)])
        if any(_raises_at_once(one) for one in made):
            return ()
        # With a part of it switched off, it is another function than the one that stands there.
        off = set(_switched_off(call, maker)) if made else ()
        return () if off and any(_asks_for(one, off) for one in made) else made

    def _given_here(self, call: ast.Call, depth: int) -> tuple[Definition, ...]:
        """``loaders_of(args)``: any of the functions of other files that one of this file returns."""
        bindings = self._flow.bindings_of(call.func) if isinstance(call.func, ast.Name) else ()
        made = bindings[0].node if len(bindings) == 1 else None
        return self._of_each(self._returned_by(made), depth) if isinstance(made, FUNCTIONS) else ()

    def _chosen(self, call: ast.Call) -> Iterator[Definition]:
        """``getattr(metrics, name)``: any function of a module, as configurations name them."""
        if self._names.qualified(call.func) != "builtins.getattr" or len(call.args) != 2:
            return
        module = self._imported.definition(call.args[0])
        if module is None or not isinstance(module.node, ast.Module):
            return
        functions = [item for item in module.node.body if isinstance(item, FUNCTIONS) and item.name[0] != "_"]
        name = call.args[1]
        if isinstance(name, ast.Constant):
            functions = [item for item in functions if item.name == name.value]
        yield from (Definition(module.file, item) for item in functions if len(functions) <= _MOST_CHOICES)


def _given_back(file: SemanticIndex, value: ast.expr, depth: int) -> tuple[Definition, ...]:
    """The functions of which one is returned by a function of a file; none for what it was given itself."""
    bindings = file.names.bindings(value) if isinstance(value, ast.Name) else []
    if any(binding.kind == "parameter" for binding in bindings):
        return ()
    here = tuple(Definition(file, one) for one in file.definitions.functions_meant(value))
    return here or file.imported.functions.of(value, depth)


def _raises_at_once(function: Definition) -> bool:
    """Whether a function is not done yet: ``raise Exception("Not yet implemented")`` stands in front of its body."""
    assert isinstance(function.node, FUNCTIONS)
    begin = 0 if ast.get_docstring(function.node, clean=False) is None else 1
    return any(isinstance(first, ast.Raise) for first in function.node.body[begin : begin + 1])


def _switched_off(call: ast.Call, maker: Definition) -> Iterator[str]:
    """Parameters that are nothing in what a call makes: ``train=False``, there or as the default."""
    assert isinstance(maker.node, FUNCTIONS)
    is_method = maker.file.tree.class_of(maker.node) is not None
    values = {**defaults_of(maker.node), **dict(arguments_given(call, maker.node, is_method))}
    for name, value in values.items():
        if isinstance(value, ast.Constant) and not value.value:
            yield name


def _asks_for(made: Definition, names: Container[str]) -> bool:
    """Whether branches of a function depend on one of these variables."""
    branches = made.file.tree.nodes_in(made.node, ast.If, ast.IfExp)
    tests = [branch.test for branch in branches if isinstance(branch, ast.If | ast.IfExp)]
    return any(isinstance(node, ast.Name) and node.id in names for test in tests for node in ast.walk(test))
