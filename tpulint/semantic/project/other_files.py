"""Other files of a project, and the functions and classes that they define."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.records import NamedTuple
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.values.value import is_none

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from tpulint.semantic import SemanticIndex
    from tpulint.source import SourceFile
else:
    Protocol = object

_DEPTH = 10


class Library(Protocol):
    """Gives the other files of a project."""

    def module(self, importer: str, level: int, name: str) -> SemanticIndex | None:
        """The file that ``from {level dots}{name} import ...`` in a file reads; None for none of the project."""

    def has(self, importer: str, level: int, name: str) -> bool:
        """Whether there is such a file; it is not read for it."""

    def file(self, importer: str, path: str) -> SemanticIndex | None:
        """A file by its absolute path, which what is known of another depends on."""

    def package(self, importer: str, name: str) -> list[SemanticIndex]:
        """The files of a package of the project, in order of their names; none for another thing."""

    def imports_steps(self, path: str, text: str) -> bool:
        """Whether a file with this text imports one that runs a backward pass. Never raises."""

    def mentioning(self, path: str, word: str, most: int | None = None) -> list[SemanticIndex] | None:
        """The files of the project of a file that have a word in them; None where one of them cannot be read.

        Nor where there are more than ``most``.
        """

    def known(self, source: SourceFile) -> SemanticIndex | None:
        """The index of this very text, when another file asked for it before."""

    def uses(self, path: str, key: str) -> bool:
        """Whether programs of the project of a configuration read it, and what a key of it says."""


class Definition(NamedTuple):
    """A function or class of another file, or with a module for a node that file as a whole."""

    file: SemanticIndex
    node: FunctionNode | ast.ClassDef | ast.Module

    @property
    def is_class(self) -> bool:
        """Whether calling it makes an instance."""
        return isinstance(self.node, ast.ClassDef)


def definition_called(index: SemanticIndex, call: ast.Call) -> Definition | None:
    """The function of this file that a call runs, or what it runs of another: a class, where it makes an instance."""
    here = index.definitions.function_called(call)
    return index.imported.called(call) if here is None else Definition(index, here)


def loads_of_parameter(called: Definition, call: ast.Call, node: ast.expr) -> list[ast.Name]:
    """What a function does with what a call gives it; nothing where it makes something else of the parameter."""
    file, function = called
    if not isinstance(function, FUNCTIONS):
        return []
    parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    given = [one for one in parameters if node in file.definitions.arguments.of_call(call, function, one.arg)]
    if len(given) != 1:
        return []
    mentions = file.names.mentions(given[0].arg, file.names.scope_of(function.body[0]))
    loads = [name for name in mentions if isinstance(name.ctx, ast.Load)]
    return loads if len(loads) == len(mentions) else []


def methods(owners: tuple[Definition, ...], name: str) -> tuple[Definition, ...]:
    """The methods of these classes by name, each once."""
    found = (method(owner, name) for owner in owners)
    return tuple(dict.fromkeys(item for item in found if item is not None))


def method(owner: Definition, name: str, depth: int = 0) -> Definition | None:
    """The method of a class by name, looked for in its bases too, through the files they come from."""
    if not isinstance(owner.node, ast.ClassDef) or depth > _DEPTH:
        return None
    found = owner.file.definitions.method(owner.node, name)
    if found is not None:
        return Definition(owner.file, found)
    for base in bases(owner):
        inherited = method(base, name, depth + 1)
        if inherited is not None:
            return inherited
    return None


def function_run(call: Definition) -> Definition | None:
    """The function that a call of a definition runs: of a class, what makes an instance."""
    return method(call, "__init__") if call.is_class else call


def bases(owner: Definition) -> Iterator[Definition]:
    """Base classes of a class that come from another file than the class, be it through others of its own file."""
    if isinstance(owner.node, ast.ClassDef):
        for one in owner.file.names.classes_above(owner.node):
            yield from owner.file.imported.bases_of(one)


def bases_above(owner: Definition, depth: int = 0) -> Iterator[Definition]:
    """These classes, those that they are derived from, and so on, each in its file."""
    for base in bases(owner) if depth < _DEPTH else ():
        assert isinstance(base.node, ast.ClassDef)
        yield from (Definition(base.file, one) for one in base.file.names.classes_above(base.node))
        yield from bases_above(base, depth + 1)


def with_bases(owner: Definition) -> Iterator[Definition]:
    """A class and all that it is derived from, in its file and others."""
    if isinstance(owner.node, ast.ClassDef):
        yield from (Definition(owner.file, one) for one in owner.file.names.classes_above(owner.node))
    yield from bases_above(owner)


def all_of(found: list[tuple[Definition, ...]]) -> tuple[Definition, ...]:
    """What several values stand for, each definition once; none when one of the values may be something else."""
    return tuple(dict.fromkeys(item for part in found for item in part)) if all(found) else ()


def returned(function: Definition) -> list[ast.expr]:
    """What a function returns; empty when some way through it returns nothing."""
    if not isinstance(function.node, FUNCTIONS):
        return []
    return function.file.definitions.returned_by(function.node)


def objects_returned(function: Definition) -> list[ast.expr]:
    """What a function returns where it returns anything: one that refuses what it is told returns nothing."""
    if not isinstance(function.node, FUNCTIONS):
        return []
    returns = function.file.tree.nodes_in(function.node, ast.Return, functions=False)
    return [node.value for node in returns if node.value is not None and not is_none(node.value)]


def unpacked(values: list[ast.expr]) -> list[ast.expr]:
    """Those of the values of a function that a call means which unpacks them: tuples, where any is one."""
    tuples: list[ast.expr] = [value for value in values if isinstance(value, ast.Tuple)]
    return tuples or values
