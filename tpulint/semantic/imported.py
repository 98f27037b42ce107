"""Definitions that a file imports from other files of its project."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from tpulint.records import NamedTuple
from tpulint.semantic import torch_facts as facts
from tpulint.semantic.bindings import Binding
from tpulint.semantic.flow import Flow
from tpulint.semantic.handed_objects import HandedObjects
from tpulint.semantic.module_lists import SEQUENTIAL, ModuleLists
from tpulint.semantic.names import Names
from tpulint.semantic.tree import FUNCTIONS, FunctionNode, SyntaxTree

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.outside import OutsideCall
    from tpulint.source import SourceFile

_HOPS = 4
"""Files that a name is followed through: ``from .meters import Meter`` in an ``__init__.py`` is one hop."""
_DEPTH = 10
_MOST_CHOICES = 48
"""Classes of a dictionary, one of which an option chooses."""
_ELSEWHERE = ("torch.", "builtins.", "numpy.", "torch_xla.", "torchvision.")
"""Beginnings of names that most calls have, and that no file of a project defines."""


class Library(Protocol):
    """Gives the other files of a project."""

    def module(self, importer: str, level: int, name: str) -> SemanticIndex | None:
        """The file that ``from {level dots}{name} import ...`` in a file reads; None for none of the project."""

    def has(self, importer: str, level: int, name: str) -> bool:
        """Whether there is such a file; it is not read for it."""

    def file(self, importer: str, path: str) -> SemanticIndex | None:
        """A file by its absolute path, which what is known of another depends on."""

    def known(self, source: SourceFile) -> SemanticIndex | None:
        """The index of this very text, when another file asked for it before."""


class Definition(NamedTuple):
    """A function or class of another file, or with a module for a node that file as a whole."""

    file: SemanticIndex
    node: FunctionNode | ast.ClassDef | ast.Module

    @property
    def is_class(self) -> bool:
        """Whether calling it makes an instance."""
        return isinstance(self.node, ast.ClassDef)


class Imported:
    """Lazy: a file is read only when something is asked of what it defines. Without a library nothing is known."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        flow: Flow,
        library: Library | None,
        arguments_for: Callable[[FunctionNode, str], list[ast.expr]],
        returned_by: Callable[[FunctionNode], list[ast.expr]],
        outside: Sequence[OutsideCall],
    ) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._library = library
        self._arguments_for = arguments_for
        self._returned_by = returned_by
        self._handed = HandedObjects(tree, self, library, outside, returned_by)
        self._lists = ModuleLists(tree, names, self._bindings_of)
        self._memo: dict[ast.expr, Definition | None] = {}
        self._classes: dict[ast.expr, tuple[Definition, ...]] = {}
        self._called: dict[ast.Call, tuple[Definition, ...]] = {}

    @cached_property
    def knows_others(self) -> bool:
        """Whether any import of the file, wherever it stands, reads a file of the project, or one hands it objects."""
        return self._library is not None and (
            self._handed.exist
            or any(
                self._library.has(self._path, level, name)
                for node in self._tree.binders
                if isinstance(node, ast.Import | ast.ImportFrom)
                for level, name in _modules_in(node)
            )
        )

    def files(self) -> Iterator[SemanticIndex]:
        """Files of the project that imports at the top of this one read."""
        for statement in self._tree.module.body if self._library is not None else ():
            assert self._library is not None
            found: list[SemanticIndex | None] = []
            if isinstance(statement, ast.ImportFrom):
                found = [self._library.module(self._path, statement.level, statement.module or "")]
            elif isinstance(statement, ast.Import):
                found = [self._library.module(self._path, 0, alias.name) for alias in statement.names]
            yield from (index for index in found if index is not None)

    # ---------------------------------------------------------------- names

    def definition(self, node: ast.expr) -> Definition | None:
        """What an imported name, or an attribute of an imported module, stands for."""
        if not self.knows_others or not isinstance(node, ast.Name | ast.Attribute):
            return None
        if node not in self._memo:
            root: ast.expr = node
            while isinstance(root, ast.Attribute):
                root = root.value
            if not isinstance(root, ast.Name) or not (root.id in self._names.nameable or self._names.has_star_import):
                return None  # bound by no import
            if (self._names.qualified(node) or "").startswith(_ELSEWHERE):
                self._memo[node] = None
                return None
            self._memo[node] = None  # a file that imports itself adds nothing
            self._memo[node] = self._resolve(node)
        return self._memo[node]

    def _resolve(self, node: ast.Name | ast.Attribute) -> Definition | None:
        if isinstance(node, ast.Attribute):
            base = self.definition(node.value)
            if base is not None and isinstance(base.node, ast.Module):
                return base.file.imported.exported(node.attr, base.file)
            return self._submodule(node) if base is None else None
        found = self._names.find_name(node)
        if found is None:
            return None if hasattr(builtins, node.id) else self._by_star(node.id, 0)
        return self._bound(found[1], 0)

    def variable(self, node: ast.expr) -> tuple[SemanticIndex, str] | None:
        """The file whose variable an imported name or an attribute of a module is, and its name there."""
        file: SemanticIndex | None = None
        name = ""
        if isinstance(node, ast.Attribute):
            base = self.definition(node.value)
            if base is not None and isinstance(base.node, ast.Module):
                file, name = base.file, node.attr
        elif isinstance(node, ast.Name) and self._library is not None:
            found = self._names.find_name(node)
            statement = found[1][0].statement if found is not None and len(found[1]) == 1 else None
            if isinstance(statement, ast.ImportFrom):
                name = next((item.name for item in statement.names if (item.asname or item.name) == node.id), "")
                file = self._library.module(self._path, statement.level, statement.module or "")
        if file is None or not name:
            return None
        bindings = file.names.bindings_in(file.names.module, name)
        return (file, name) if bindings and all(binding.kind == "assign" for binding in bindings) else None

    def exported(self, name: str, index: SemanticIndex, hops: int = 0) -> Definition | None:
        """What this file, whose index is ``index``, offers under a name."""
        bindings = self._names.bindings_in(self._names.module, name)
        if len(bindings) == 1 and isinstance(bindings[0].node, (*FUNCTIONS, ast.ClassDef)):
            return Definition(index, bindings[0].node)
        if bindings:
            return self._bound(bindings, hops)
        found = self._by_star(name, hops)
        if found is None and index.source.path.endswith("__init__.py"):
            found = self._module_named(index.source.path, 1, name)
        return found

    def _bound(self, bindings: list[Binding], hops: int) -> Definition | None:
        """What an import binds; where there are several, ``try: ... except ImportError:``, nobody knows which."""
        if len(bindings) != 1 or hops > _HOPS:
            return None
        binding = bindings[0]
        if binding.kind == "assign" and isinstance(binding.value, ast.Name | ast.Attribute) and not binding.path:
            return self.definition(binding.value)
        if binding.kind != "import":
            return None
        alias, statement = binding.node, binding.statement
        assert isinstance(alias, ast.alias)
        if isinstance(statement, ast.ImportFrom):
            return self._member(statement.level, statement.module or "", alias.name, hops)
        return self._module_named(self._path, 0, alias.name if alias.asname else alias.name.split(".", 1)[0])

    def _member(self, level: int, module: str, name: str, hops: int) -> Definition | None:
        assert self._library is not None
        index = self._library.module(self._path, level, module)
        found = None if index is None else index.imported.exported(name, index, hops + 1)
        return found or self._module_named(self._path, level, f"{module}.{name}" if module else name)

    def _by_star(self, name: str, hops: int) -> Definition | None:
        """A name that ``from module import *`` may bind."""
        if not self._names.has_star_import or self._library is None or hops > _HOPS:
            return None
        for statement in self._tree.module.body:
            if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
                index = self._library.module(self._path, statement.level, statement.module or "")
                found = None if index is None else index.imported.exported(name, index, hops + 1)
                if found is not None:
                    return found
        return None

    def _module_named(self, importer: str, level: int, name: str) -> Definition | None:
        index = None if self._library is None else self._library.module(importer, level, name)
        return None if index is None else Definition(index, index.tree.module)

    def _submodule(self, node: ast.Attribute) -> Definition | None:
        """``lib.meters``, imported as ``import lib.meters``, where ``lib`` itself is a folder only."""
        name = self._names.qualified(node)
        return None if name is None or name.startswith("builtins.") else self._module_named(self._path, 0, name)

    @property
    def _path(self) -> str:
        return self._tree.source.path

    # ---------------------------------------------------------------- calls

    def called(self, call: ast.Call) -> Definition | None:
        """The function of another file that a call runs, or the class that it makes an instance of."""
        found = self.all_called(call)
        return found[0] if len(found) == 1 else None

    def all_called(self, call: ast.Call) -> tuple[Definition, ...]:
        """What a call may run in other files: several methods, where it is one of an instance of several classes."""
        if not self.knows_others:
            return ()
        if call not in self._called:
            self._called[call] = self._find_called(call)
        return self._called[call]

    def _find_called(self, call: ast.Call) -> tuple[Definition, ...]:
        name = self._names.qualified(call.func)
        if name is not None and name.startswith(_ELSEWHERE):
            return ()
        found = self.definition(call.func)
        if found is not None:
            return () if isinstance(found.node, ast.Module) else (found,)
        kept = self._functions_kept(call.func) if name is None else ()
        if not kept and isinstance(call.func, ast.Attribute):
            return methods(self.classes_of(call.func.value), call.func.attr)
        return kept

    def _functions_kept(self, node: ast.expr) -> tuple[Definition, ...]:
        """Functions of other files that a variable or ``self.criterion`` is set to; none where it may be another."""
        found: dict[Definition, None] = {}
        for binding in self._bindings_of(node):
            value = binding.value
            sides = (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)
            for side in sides if binding.kind == "assign" and not binding.path else (None,):
                function = self.definition(side) if isinstance(side, ast.Name | ast.Attribute) else None
                if function is None or not isinstance(function.node, FUNCTIONS):
                    return ()
                found[function] = None
        return tuple(found)

    @cached_property
    def calls(self) -> list[ast.Call]:
        """Calls that may run what other files define, in order of position: most calls of a file do not."""
        return [call for call in self._tree.calls if self._may_run(call)] if self.knows_others else []

    def _may_run(self, call: ast.Call) -> bool:
        if self.all_called(call):
            return True
        return self._names.qualified(call.func) is None and bool(self.classes_of(call.func))

    def class_of(self, node: ast.expr) -> Definition | None:
        """The class of another file that a variable, ``self.x`` or a call gives an instance of."""
        found = self.classes_of(node)
        return found[0] if len(found) == 1 else None

    def classes_of(self, node: ast.expr, depth: int = 0) -> tuple[Definition, ...]:
        """The classes of other files of which an expression gives an instance of one; empty when it may be another."""
        if not self.knows_others or depth > _DEPTH:
            return ()
        if node not in self._classes:
            self._classes[node] = ()
            self._classes[node] = self._find_classes(node, depth)
        return self._classes[node]

    def _find_classes(self, node: ast.expr, depth: int) -> tuple[Definition, ...]:
        if isinstance(node, ast.Call):
            return self._classes_made(node, depth)
        if isinstance(node, ast.IfExp):
            return _all_of([self.classes_of(side, depth + 1) for side in (node.body, node.orelse)])
        if isinstance(node, ast.Subscript):
            return self._classes_of_parts(self._lists.parts_of(node.value), depth)
        bindings = self._flow.made(node) if isinstance(node, ast.Name) else self._bindings_of(node)
        if isinstance(node, ast.Attribute) and not bindings:
            return self._classes_of_part(node, depth) or self._classes_kept_by_base(node, depth)
        others = [binding for binding in bindings if not self.is_elsewhere(binding.value)]
        return _all_of([self._classes_bound(binding, depth) for binding in others])

    def _bindings_of(self, node: ast.expr) -> tuple[Binding, ...]:
        """Where a variable or ``self.x`` gets its value in this file."""
        if isinstance(node, ast.Name):
            return self._flow.reaching(node)
        return self._flow.reaching_attribute(node) if isinstance(node, ast.Attribute) else ()

    def _classes_of_parts(self, parts: list[ast.expr], depth: int) -> tuple[Definition, ...]:
        """The classes of the elements of a list of modules, those of torch left out."""
        return _all_of([self.classes_of(part, depth + 1) for part in parts if not self.is_elsewhere(part)])

    def _classes_of_part(self, node: ast.Attribute, depth: int) -> tuple[Definition, ...]:
        """Classes of an attribute of an object whose class another file defines: ``agent.network``."""
        found = []
        for owner in self.classes_of(node.value, depth + 1):
            if isinstance(owner.node, ast.ClassDef):
                bound = owner.file.names.attribute_bindings(owner.node, node.attr)
                values = [binding.value for binding in bound if not self.is_elsewhere(binding.value)]
                for value in values:
                    other = owner.file
                    found.append(() if value is None else other.imported.classes_here(value, other, depth + 2))
        return _all_of(found)

    def _classes_kept_by_base(self, node: ast.Attribute, depth: int) -> tuple[Definition, ...]:
        """Classes of ``self.model``, which a base class of another file sets."""
        kept = self._handed.kept_by_base(node)
        return _all_of([() if value is None else others.classes_of(value, depth + 2) for others, value in kept])

    def is_elsewhere(self, value: ast.expr | None) -> bool:
        """Whether a value is nothing that a file of the project runs: None, or an instance of a class of torch."""
        made = self._names.qualified(value.func) if isinstance(value, ast.Call) else None
        if made == SEQUENTIAL and value is not None and self.classes_of(value):
            return False
        return _is_none(value) or ((made or "").startswith("torch.nn.") and made not in facts.MODULE_WRAPPERS)

    def _classes_bound(self, binding: Binding, depth: int) -> tuple[Definition, ...]:
        value = binding.value
        if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
            given = self._arguments_for(binding.statement, binding.name)
            here = _all_of([self.classes_of(item, depth + 1) for item in given])
            handed = (Definition(*item) for item in self._handed.given(binding.statement, binding.name))
            return tuple(dict.fromkeys((*here, *handed)))
        if binding.kind == "with" and value is not None and not binding.path:
            return self.classes_of(value, depth + 1)
        if binding.kind == "loop" and value is not None:
            return self._classes_of_parts(self._lists.gone_through(value, binding.path), depth)
        if binding.kind != "assign" or value is None:
            return ()
        for at in binding.path:
            if not isinstance(value, ast.Tuple) or not 0 <= at < len(value.elts):
                return ()
            value = value.elts[at]
        return self.classes_of(value, depth + 1)

    def _classes_made(self, call: ast.Call, depth: int) -> tuple[Definition, ...]:
        if isinstance(call.func, ast.Attribute) and call.func.attr in facts.MODULE_SELF_METHODS:
            return self.classes_of(call.func.value, depth + 1)
        if self._names.qualified(call.func) in facts.MODULE_WRAPPERS and call.args:
            return self.classes_of(call.args[0], depth + 1)
        if self._names.qualified(call.func) == SEQUENTIAL:
            return self._classes_of_parts(self._lists.parts_of(call), depth)
        found = self.definition(call.func)
        if found is None:
            return self._classes_given_here(call.func, depth) or self._classes_chosen(call.func)
        if isinstance(found.node, ast.Module):
            return ()
        if isinstance(found.node, ast.ClassDef):
            return (found,)
        # `build_model(config)` gives what it returns.
        other = found.file
        parts = []
        for value in returned(found):
            given = self._handed.given_back(call, found, value)
            if given is None:
                parts.append(other.imported.classes_here(value, other, depth + 1))
            else:
                parts.append(self.classes_of(given, depth + 1))
        return _all_of(parts)

    def _classes_given_here(self, func: ast.expr, depth: int) -> tuple[Definition, ...]:
        """Classes of other files of what a function of this file returns: ``get_model(config)``."""
        bindings = self._names.bindings(func) if isinstance(func, ast.Name) else []
        function = bindings[0].node if len(bindings) == 1 else None
        made = self._returned_by(function) if isinstance(function, FUNCTIONS) else []
        return _all_of([self.classes_of(value, depth + 1) for value in made])

    def _classes_chosen(self, func: ast.expr) -> tuple[Definition, ...]:
        """``MODELS[args.model](...)``, ``MODELS[args.model].Model(...)``: any of a dictionary that is written out.

        Also of a variable with such a value, or one that branches set to a class each.
        """
        member = func.attr if isinstance(func, ast.Attribute) else ""
        chosen = func.value if isinstance(func, ast.Attribute) else func
        values: list[ast.expr | None] = [chosen]
        if isinstance(chosen, ast.Name):
            bindings = self._bindings_of(chosen)
            plain = all(binding.kind == "assign" and not binding.path for binding in bindings)
            values = [binding.value for binding in bindings] if plain else []
        found: list[Definition | None] = []
        for value in values:
            options = list(self._options(value))
            found += [None] if not options else []
            for others, option in options:
                item = others.definition(option)
                if member and item is not None:
                    is_module = isinstance(item.node, ast.Module)
                    item = item.file.imported.exported(member, item.file) if is_module else None
                found.append(item)
        known = [item for item in found if item is not None and item.is_class]
        return tuple(dict.fromkeys(known)) if len(known) == len(found) <= _MOST_CHOICES else ()

    def _options(self, node: ast.expr | None) -> Iterator[tuple[Imported, ast.expr]]:
        """What an expression chooses from, with who knows its imports: of ``MODELS.get(name)`` all that is in it."""
        is_get = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get"
        if isinstance(node, ast.Subscript) or is_get:
            whole = node.value if isinstance(node, ast.Subscript) else node.func.value  # type: ignore[union-attr]
            for others, values in self._dictionaries(whole):
                yield from ((others, value) for value in values)
        elif isinstance(node, ast.IfExp):
            yield from ((self, side) for side in (node.body, node.orelse))
        elif isinstance(node, ast.Name | ast.Attribute):
            yield self, node

    def _dictionaries(self, node: ast.expr) -> Iterator[tuple[Imported, list[ast.expr]]]:
        """What the one dictionary holds that a variable or ``self.x`` stands for, with who knows its imports."""
        if isinstance(node, ast.Dict):
            yield self, node.values
        bindings = self._bindings_of(node)
        if isinstance(node, ast.Attribute) and not bindings:
            for others, value in self._handed.kept_by_base(node):
                if isinstance(value, ast.Dict):
                    yield others, value.values
        if len(bindings) == 1 and isinstance(bindings[0].value, ast.Dict) and not bindings[0].path:
            yield self, bindings[0].value.values

    def classes_here(self, node: ast.expr, index: SemanticIndex, depth: int) -> tuple[Definition, ...]:
        """The classes that an expression of this file, whose index is ``index``, may be an instance of."""
        owners = index.definitions.classes_made(node)
        return tuple(Definition(index, owner) for owner in owners) or self.classes_of(node, depth)


def _all_of(found: list[tuple[Definition, ...]]) -> tuple[Definition, ...]:
    """Each of the classes once; none when one of the values may be something else."""
    return tuple(dict.fromkeys(item for part in found for item in part)) if all(found) else ()


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


def bases(owner: Definition) -> Iterator[Definition]:
    """Base classes of a class that come from another file than the class."""
    if isinstance(owner.node, ast.ClassDef):
        for base in owner.node.bases:
            found = owner.file.imported.definition(base)
            if found is not None and found.is_class:
                yield found


def returned(function: Definition) -> list[ast.expr]:
    """What a function returns; empty when some way through it returns nothing."""
    if not isinstance(function.node, FUNCTIONS):
        return []
    return function.file.definitions.returned_by(function.node)


def _modules_in(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[int, str]]:
    """Modules that an import may read, with the number of leading dots."""
    if isinstance(statement, ast.ImportFrom):
        module = statement.module or ""
        yield statement.level, module
        yield from ((statement.level, f"{module}.{alias.name}") for alias in statement.names)
        return
    for alias in statement.names:
        parts = alias.name.split(".")
        yield from ((0, ".".join(parts[:count])) for count in range(1, len(parts) + 1))


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
