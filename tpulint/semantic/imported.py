"""Definitions that a file imports from other files of its project."""

from __future__ import annotations

import ast
import builtins
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from tpulint.semantic.bindings import Binding
from tpulint.semantic.flow import Flow
from tpulint.semantic.names import Names
from tpulint.semantic.other_files import Definition, Library, methods
from tpulint.semantic.tree import FUNCTIONS, FunctionNode, SyntaxTree, is_super

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.chosen_modules import ChosenModules
    from tpulint.semantic.handed_objects import HandedObjects
    from tpulint.semantic.imported_classes import ImportedClasses
    from tpulint.semantic.kept_functions import KeptFunctions
    from tpulint.semantic.outside import OutsideCall

    _Seen = set[tuple[str, str]]
    """Files that were asked for a name already, each with the name."""

_ELSEWHERE = ("torch.", "builtins.", "numpy.", "torch_xla.", "torchvision.")
"""Beginnings of names that most calls have, and that no file of a project defines."""


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
        self._outside = outside
        self._memo: dict[ast.expr, Definition | None] = {}
        self._called: dict[ast.Call, tuple[Definition, ...]] = {}
        self.option_files: dict[ast.expr, str | None] = {}
        """The files that parse the options which expressions hold, of those that were looked for."""
        self.devices_returned: dict[tuple[ast.Call, tuple[int, ...]], bool] = {}
        """Calls of other files' functions that give a device, with the part of what they return, of those asked."""
        self.devices_given: dict[tuple[ast.Call, int | str], bool] = {}
        """Arguments of calls that other files take for devices, by place or name."""
        self.devices_held: dict[ast.expr, bool] = {}
        """Variables of other files that hold a device, of those that were asked for."""

    @cached_property
    def knows_others(self) -> bool:
        """Whether any import of the file, wherever it stands, reads a file of the project, or one hands it objects."""
        return self._library is not None and (
            any(call.classes or call.options for call in self._outside)
            or any(
                self._library.has(self._path, level, name)
                for node in self._tree.binders
                if isinstance(node, ast.Import | ast.ImportFrom)
                for level, name in _modules_in(node)
            )
        )

    @property
    def text(self) -> str:
        """What stands in the file."""
        return self._tree.source.text

    def itself(self) -> SemanticIndex | None:
        """The file as others see it."""
        return None if self._library is None else self._library.file(self._path, os.path.abspath(self._path))

    def files(self, anywhere: bool = False) -> Iterator[SemanticIndex]:
        """Files of the project that imports at the top of this one read, or ``anywhere``, be it in a function."""
        statements: Iterable[ast.AST] = self._tree.binders if anywhere else self._tree.module.body
        for statement in statements if self._library is not None else ():
            assert self._library is not None
            found: list[SemanticIndex | None] = []
            if isinstance(statement, ast.ImportFrom):
                found = [self._library.module(self._path, level, name) for level, name in _modules_in(statement)]
            elif isinstance(statement, ast.Import):
                found = [self._library.module(self._path, 0, alias.name) for alias in statement.names]
            yield from (index for index in found if index is not None)

    def file(self, path: str) -> SemanticIndex | None:
        """Another file of the project, by its absolute path."""
        is_other = self._library is not None and path != os.path.abspath(self._path)
        return self._library.file(self._path, path) if self._library is not None and is_other else None

    def mentioning(self, word: str) -> list[SemanticIndex] | None:
        """The files of the project that have a word in them, this one included; None where not all can be read."""
        return None if self._library is None else self._library.mentioning(self._path, word)

    def others_mentioning(self, word: str) -> list[SemanticIndex]:
        """The other files of the project that have a word in them; none where not all can be read."""
        itself = self.itself()
        return [file for file in self.mentioning(word) or () if file is not itself]

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
            return None if hasattr(builtins, node.id) else self._by_star(node.id, set())
        # `if fast: from fast import Agent`, and what is made of it there: only one import reaches that.
        reaching = found[1] if len(found[1]) == 1 else list(self._flow.reaching(node))
        return self._bound(reaching, set())

    def definition_in(self, node: ast.expr, file: SemanticIndex | None) -> Definition | None:
        """What ``definition`` finds, or what this file itself defines, where its index, ``file``, is given."""
        found = self.definition(node)
        if found is None and file is not None and isinstance(node, ast.Name):
            return self.exported(node.id, file)
        return found

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
            elif found is None and self._names.has_star_import:
                starred = [one for item in self._star_imports for one in self.starred(item)]
                name, file = node.id, next((one for one in reversed(starred) if _binds(one, node.id)), None)
        if file is None or not name:
            return None
        bindings = file.names.bindings_in(file.names.module, name)
        if len(bindings) == 1 and isinstance(bindings[0].node, ast.alias):
            return file.imported.variable_imported(bindings[0].node, ())  # a package hands it on
        return (file, name) if bindings and all(binding.kind == "assign" for binding in bindings) else None

    def variable_imported(self, alias: ast.alias, path: tuple[str, ...]) -> tuple[SemanticIndex, str] | None:
        """The file whose variable an import brings, or a part of what it brings, and its name there."""
        statement = self._tree.parents[alias]
        if self._library is None or len(path) != int(isinstance(statement, ast.Import)):
            return None
        if isinstance(statement, ast.ImportFrom):
            file = self._library.module(self._path, statement.level, statement.module or "")
        else:
            file = self._library.module(self._path, 0, alias.name)
        name = path[0] if path else alias.name
        bindings = [] if file is None else file.names.bindings_in(file.names.module, name)
        is_variable = bindings and all(binding.kind == "assign" for binding in bindings)
        return (file, name) if file is not None and is_variable else None

    def exported(self, name: str, index: SemanticIndex, seen: _Seen | None = None) -> Definition | None:
        """What this file, whose index is ``index``, offers under a name."""
        seen = set() if seen is None else seen
        if (self._path, name) in seen:
            return None  # files that import each other
        seen.add((self._path, name))
        bindings = self._names.bindings_in(self._names.module, name)
        made = [binding.node for binding in bindings if isinstance(binding.node, (*FUNCTIONS, ast.ClassDef))]
        are_plain = len(made) == 1 or all(self._tree.parents.get(node) is self._tree.module for node in made)
        if made and len(made) == len(bindings) and are_plain:
            return Definition(index, made[-1])  # of several that no condition chooses Python has the last
        if bindings:
            return self._bound(bindings, seen)
        found = self._by_star(name, seen)
        if found is None and index.source.path.endswith("__init__.py"):
            found = self._module_named(index.source.path, 1, name)
        return found

    def _bound(self, bindings: list[Binding], seen: _Seen) -> Definition | None:
        """What an import binds; where there are several, ``try: ... except ImportError:``, nobody knows which."""
        if len(bindings) != 1:
            return None
        binding = bindings[0]
        if binding.kind == "assign" and isinstance(binding.value, ast.Name | ast.Attribute) and not binding.path:
            return self.definition(binding.value)
        if binding.kind != "import":
            return None
        alias, statement = binding.node, binding.statement
        assert isinstance(alias, ast.alias)
        if isinstance(statement, ast.ImportFrom):
            return self._member(statement.level, statement.module or "", alias.name, seen)
        return self._module_named(self._path, 0, alias.name if alias.asname else alias.name.split(".", 1)[0])

    def _member(self, level: int, module: str, name: str, seen: _Seen) -> Definition | None:
        assert self._library is not None
        index = self._library.module(self._path, level, module)
        found = None if index is None else index.imported.exported(name, index, seen)
        return found or self._module_named(self._path, level, f"{module}.{name}" if module else name)

    def _by_star(self, name: str, seen: _Seen) -> Definition | None:
        """A name that ``from module import *`` may bind."""
        if not self._names.has_star_import or self._library is None:
            return None
        for statement in self._star_imports:
            for index in self.starred(statement):
                found = index.imported.exported(name, index, seen)
                if found is not None:
                    return found
        return None

    @cached_property
    def _star_imports(self) -> list[ast.ImportFrom]:
        """They stand at the top, though an ``if`` may choose them."""
        found = (node for node in self._tree.binders if isinstance(node, ast.ImportFrom))
        return [node for node in found if node.names[0].name == "*"]

    def starred(self, statement: ast.ImportFrom) -> Iterator[SemanticIndex]:
        """The file of the project that ``from module import *`` reads."""
        if statement.names[0].name == "*" and self._library is not None:
            index = self._library.module(self._path, statement.level, statement.module or "")
            yield from () if index is None else (index,)

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
            self._called[call] = ()  # a function that makes itself adds nothing
            self._called[call] = self._find_called(call)
        return self._called[call]

    def _find_called(self, call: ast.Call) -> tuple[Definition, ...]:
        name = self._names.qualified(call.func)
        if name is not None and name.startswith(_ELSEWHERE):
            return ()
        found = self.definition(call.func)
        if found is not None:
            return () if isinstance(found.node, ast.Module) else (found,)
        kept = self.functions.of(call.func) if name is None else ()
        if kept:
            return kept
        if isinstance(call.func, ast.Attribute):
            if call.func.attr == "apply" and (applied := self.applied(call.func)) is not None:
                return (applied,)
            methods_called = methods(self._bases_of_self(call.func) or self.classes_of(call.func.value), call.func.attr)
            return methods_called or (self._object_called(call.func) if name is None else ())
        return () if name is not None else self.classes.chosen.by(call.func) or self._object_called(call.func)

    def _object_called(self, node: ast.expr) -> tuple[Definition, ...]:
        """What a call of an object runs: ``guess = Guessor(0.9)`` and ``guess(model, x)``."""
        owners = self.classes_of(node)
        return () if methods(owners, "forward") else methods(owners, "__call__")

    def applied(self, node: ast.Attribute) -> Definition | None:
        """The ``forward`` that ``Clip.apply`` runs, where another file has the class, with a gradient of its own."""
        owner = self.definition(node.value)
        if owner is None or not isinstance(owner.node, ast.ClassDef):
            return None
        forward = owner.file.definitions.forward_applied(owner.node)
        return None if forward is None else Definition(owner.file, forward)

    def _bases_of_self(self, node: ast.Attribute) -> tuple[Definition, ...]:
        """Classes of other files from which a class of this file has a method: ``self.run``, ``super().__init__``."""
        owner, within = self._tree.class_of(node), self._tree.function_of(node)
        if owner is None or within is None:
            return ()
        if not is_super(node.value):
            first = within.args.args[0].arg if within.args.args else ""
            own = (item for one in self._tree.classes for item in one.body if isinstance(item, FUNCTIONS))
            is_itself = isinstance(node.value, ast.Name) and node.value.id == first
            if not is_itself or any(item.name == node.attr for item in own):
                return ()  # another class of this file may replace it
        found = (self.definition(base) for base in owner.bases if isinstance(base, ast.Name | ast.Attribute))
        return tuple(item for item in found if item is not None and item.is_class)

    @cached_property
    def calls(self) -> list[ast.Call]:
        """Calls that may run what other files define, in order of position: most calls of a file do not."""
        return [call for call in self._tree.calls if self._may_run(call)] if self.knows_others else []

    def _may_run(self, call: ast.Call) -> bool:
        if self.all_called(call):
            return True
        return self._names.qualified(call.func) is None and bool(self.classes_of(call.func))

    def of_package(self, package: str, name: str) -> list[Definition]:
        """The classes and functions of a name that the files of a package define."""
        files = [] if self._library is None else self._library.package(self._path, package)
        defining = (index for index in files if name in index.source.text)
        found = ((index, [*index.tree.classes, *index.definitions.named(name)]) for index in defining)
        return [Definition(index, node) for index, nodes in found for node in nodes if node.name == name]

    @cached_property
    def chosen_modules(self) -> ChosenModules:
        """The modules one of which is imported when the program runs."""
        from tpulint.semantic.chosen_modules import ChosenModules

        return ChosenModules(self._names, self._flow, self)

    # ---------------------------------------------------------------- classes

    @cached_property
    def classes(self) -> ImportedClasses:
        """The classes of other files that values are instances of."""
        from tpulint.semantic.imported_classes import ImportedClasses

        return ImportedClasses(
            self._tree, self._names, self._flow, self, self._handed, self._arguments_for, self._returned_by
        )

    @cached_property
    def functions(self) -> KeptFunctions:
        """The functions of other files that values are."""
        from tpulint.semantic.kept_functions import KeptFunctions

        return KeptFunctions(self._names, self._flow, self, self._handed, self._arguments_for, self._returned_by)

    @cached_property
    def _handed(self) -> HandedObjects:
        from tpulint.semantic.handed_objects import HandedObjects

        return HandedObjects(self._tree, self._names, self, self._library, self._outside, self._returned_by)

    def classes_of(self, node: ast.expr) -> tuple[Definition, ...]:
        """The classes of other files of which an expression gives an instance of one; empty when it may be another."""
        return self.classes.of(node) if self.knows_others else ()

    def classes_here(self, node: ast.expr, index: SemanticIndex, depth: int = 0) -> tuple[Definition, ...]:
        """The classes that an expression of this file, whose index is ``index``, may be an instance of."""
        owners = index.definitions.classes.made(node)
        if owners or not self.knows_others:
            return tuple(Definition(index, owner) for owner in owners)
        return self.classes.of(node, depth)

    def class_of(self, node: ast.expr) -> Definition | None:
        """The class of another file that a variable, ``self.x`` or a call gives an instance of."""
        found = self.classes_of(node)
        return found[0] if len(found) == 1 else None


def _binds(file: SemanticIndex, name: str) -> bool:
    """Whether a file has a variable of a name, or anything else that is called so."""
    return bool(file.names.bindings_in(file.names.module, name))


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
