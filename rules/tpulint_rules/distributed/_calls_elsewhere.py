"""Calls of a model in the files and functions that it is handed to, beyond what variables of its own file show."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tpulint.semantic import FUNCTIONS, FunctionNode, SemanticIndex
from tpulint.semantic.functions.passed_arguments import arguments_given, values_given
from tpulint.semantic.project.other_files import Definition, function_run
from tpulint.semantic.syntax.nodes import is_of_self
from tpulint.semantic.syntax.variables import last_name

_DEPTH = 4
Call = tuple[SemanticIndex, ast.Call]
"""A call, with the file that it stands in."""


def calls_elsewhere(index: SemanticIndex, is_model: Callable[[ast.expr], bool]) -> Iterator[Call]:
    """Calls of a model of one file in the functions and classes of other files that it is handed to.

    ``train(loader, model)`` and ``Trainer(model).train(loader)``, whose class keeps it as ``self.model``.
    """
    for call in index.imported.calls:
        called = index.imported.called(call)
        if called is not None and any(map(is_model, values_given(call))):
            yield from _within(called, call, is_model, 0, set())


def calls_of_kept(index: SemanticIndex, is_model: Callable[[ast.expr], bool]) -> Iterator[Call]:
    """Calls that other files make of a model which objects of a class keep: ``trainer.model(x)``."""
    for owner, attributes in index.names.attributes.items():
        for name, bindings in attributes.items():
            values = [binding.value for binding in bindings if binding.kind == "assign" and not binding.path]
            if not any(value is not None and is_model(value) for value in values):
                continue
            for file in index.imported.others_mentioning(name):
                yield from ((file, call) for call in file.calls if _is_of_object(file, call.func, owner, name))


def _is_of_object(file: SemanticIndex, func: ast.expr, owner: ast.ClassDef, name: str) -> bool:
    """Whether what is called is an attribute of an object of a class, by the name of that where no more is seen."""
    if not isinstance(func, ast.Attribute) or func.attr != name:
        return False
    made = [binding.value for binding in file.flow.bindings_of(func.value) if binding.kind == "assign"]
    return any(isinstance(call, ast.Call) and last_name(call.func) == owner.name for call in made)


def _within(
    called: Definition, call: ast.Call, is_model: Callable[[ast.expr], bool], depth: int, seen: set[FunctionNode]
) -> Iterator[Call]:
    """Calls of a model in a function that a call hands it to, and where that one hands it on."""
    run = function_run(called)
    if run is None or not isinstance(run.node, FUNCTIONS) or run.node in seen or depth > _DEPTH:
        return
    seen.add(run.node)
    file, function = run.file, run.node
    is_method = file.tree.class_of(function) is not None
    names = {name for name, item in arguments_given(call, function, is_method) if is_model(item)}
    kept = _kept(file, function, names) if names else set()

    def is_here(node: ast.expr) -> bool:
        if isinstance(node, ast.Attribute):
            return is_of_self(node) and node.attr in kept
        bindings = file.flow.reaching(node) if isinstance(node, ast.Name) and node.id in names else ()
        return any(binding.kind == "parameter" and binding.statement is function for binding in bindings)

    for inner in file.calls if names else ():
        if is_here(inner.func):
            yield file, inner
        elif any(map(is_here, values_given(inner))):
            here = file.definitions.function_called(inner) or file.definitions.class_called(inner)
            further = file.imported.called(inner) if here is None else Definition(file, here)
            if further is not None:
                yield from _within(further, inner, is_here, depth + 1, seen)


def _kept(file: SemanticIndex, function: FunctionNode, names: set[str]) -> set[str]:
    """Attributes in which a method keeps what it is given by these names: ``model`` of ``self.model = model``."""
    owner = file.tree.class_of(function)
    found = set()
    for statement in file.tree.nodes_in(function, ast.Assign) if owner is not None else ():
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name) and statement.value.id in names:
            found |= {target.attr for target in statement.targets if is_of_self(target)}
    return found
