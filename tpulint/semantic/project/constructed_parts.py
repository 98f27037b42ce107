"""What the calls of a project that make objects of a class give it, which they keep: ``Both(generator=Net())``."""

from __future__ import annotations

import ast
import os

from tpulint.semantic.functions.passed_arguments import CALLS_LOOKED_AT, arguments_given
from tpulint.semantic.project.handed_objects import parameter_in
from tpulint.semantic.project.other_files import Definition, all_of, function_run
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_MOST_FILES = 12
"""Files that name a class: where there are more, it may be made anywhere."""


def classes_constructed_with(owner: Definition, kept: ast.expr, depth: int) -> tuple[Definition, ...]:
    """The classes of what an object of a class keeps, ``self.generator = generator``, as the project makes such.

    None where one of the calls gives what nobody knows.
    """
    parameter = parameter_in(owner.file, kept, 0)
    start = function_run(owner)
    if parameter is None or start is None or parameter.statement is not start.node:
        return ()
    assert isinstance(start.node, FUNCTIONS)
    given = [
        (file, item)
        for file in _files_naming(owner)
        for call in _calls_making(file, owner)
        for name, item in arguments_given(call, start.node, is_method=True)
        if name == parameter.name and not file.imported.classes.is_elsewhere(item)
    ]
    if len(given) > CALLS_LOOKED_AT:
        return ()
    return all_of([file.imported.classes_here(item, file, depth) for file, item in given])


def _files_naming(owner: Definition) -> list[SemanticIndex]:
    assert isinstance(owner.node, ast.ClassDef)
    files = owner.file.imported.mentioning(owner.node.name, _MOST_FILES)
    return files or []


def _calls_making(file: SemanticIndex, owner: Definition) -> list[ast.Call]:
    """The calls of a file that make an object of a class. A file may be known twice: as it is linted, and to others."""
    assert isinstance(owner.node, ast.ClassDef)
    name, path = owner.node.name, os.path.abspath(owner.file.source.path)
    found = []
    for call in file.tree.calls:
        if last_name(call.func) == name:
            own = file.definitions.class_called(call)
            made = Definition(file, own) if own is not None else file.imported.called(call)
            is_class = made is not None and isinstance(made.node, ast.ClassDef) and made.node.name == name
            if made is not None and is_class and os.path.abspath(made.file.source.path) == path:
                found.append(call)
    return found
