"""What names of one file stand for that other files of its project define."""

from __future__ import annotations

import ast
import builtins
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from tpulint.semantic.project.other_files import Definition, Library
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.tree import SyntaxTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.project.outside import OutsideCall

    _Seen = set[tuple[str, str]]
    """Files that were asked for a name already, each with the name."""

ELSEWHERE = ("torch.", "builtins.", "numpy.", "torch_xla.", "torchvision.")
"""Beginnings of names that most calls have, and that no file of a project defines."""
_IMPORTING = ("__import__(", "import_module(")
_SEVERAL = 2
_STEPS_TO_USERS = 3
"""Files that are gone through from a program to what it uses."""


class ImportedNames:
    """Lazy: a file is read only when something is asked of what it defines. Without a library nothing is known."""

    def __init__(
        self, tree: SyntaxTree, names: Names, flow: Flow, library: Library | None, outside: Sequence[OutsideCall]
    ) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._library = library
        self._outside = outside
        self._memo: dict[ast.expr, Definition | None] = {}

    @cached_property
    def knows_others(self) -> bool:
        """Whether any import of the file, wherever it stands, reads a file of the project, or one hands it objects."""
        return self._library is not None and (
            any(call.classes or call.options for call in self._outside)
            or any(word in self.text for word in _IMPORTING)
            or any(
                self._library.has(self._path, level, name)
                for node in self._tree.binders
                if isinstance(node, ast.Import | ast.ImportFrom)
                for level, name in _modules_in(node)
            )
        )

    @cached_property
    def may_be_told(self) -> bool:
        """Whether others may note what they define in this file: ``@register("net")`` puts a class in a dictionary."""
        return self._library is not None and "def register" in self.text

    @cached_property
    def imports_steps(self) -> bool:
        """Whether a file that this one imports runs a backward pass, maybe for it: ``self.optimize(loss)``."""
        return self._library is not None and self._library.imports_steps(self._path, self.text)

    @property
    def may_meet_others(self) -> bool:
        """Whether values of the file may be of classes of other files: imported, handed over, or noted by them."""
        return self.knows_others or self.may_be_told

    @property
    def text(self) -> str:
        """What stands in the file."""
        return self._tree.source.text

    def itself(self) -> SemanticIndex | None:
        """The file as others see it."""
        return None if self._library is None else self._library.file(self._path, os.path.abspath(self._path))

    def files(self, anywhere: bool = False) -> Iterator[SemanticIndex]:
        """Files of the project that imports at the top of this one read, or ``anywhere``, be it in a function."""
        return iter(self._files_anywhere) if anywhere else self._files_of(self._tree.module.body)

    @cached_property
    def _files_anywhere(self) -> tuple[SemanticIndex, ...]:
        return tuple(self._files_of(self._tree.binders))  # many files ask one

    def _files_of(self, statements: Iterable[ast.AST]) -> Iterator[SemanticIndex]:
        for statement in statements if self._library is not None else ():
            assert self._library is not None
            found: list[SemanticIndex | None] = []
            if isinstance(statement, ast.ImportFrom):
                found = [self._library.module(self._path, level, name) for level, name in _modules_in(statement)]
            elif isinstance(statement, ast.Import):
                found = [self._library.module(self._path, 0, alias.name) for alias in statement.names]
            yield from (index for index in found if index is not None)

    def package(self) -> Iterator[SemanticIndex]:
        """The ``__init__.py`` beside the file, which runs before it; of a package itself, none."""
        is_package = os.path.basename(self._path) == "__init__.py"
        found = None if self._library is None or is_package else self._library.module(self._path, 1, "")
        yield from () if found is None else (found,)

    def file(self, path: str) -> SemanticIndex | None:
        """Another file of the project, by its absolute path."""
        is_other = self._library is not None and path != os.path.abspath(self._path)
        return self._library.file(self._path, path) if self._library is not None and is_other else None

    def mentioning(self, word: str, most: int | None = None) -> list[SemanticIndex] | None:
        """The files of the project that have a word in them, this one included; None where not all can be read.

        Nor where there are more than are to be read.
        """
        return None if self._library is None else self._library.mentioning(self._path, word, most)

    def others_mentioning(self, word: str) -> list[SemanticIndex]:
        """The other files of the project that have a word in them; none where not all can be read."""
        itself = self.itself()
        return [file for file in self.mentioning(word) or () if file is not itself]

    @cached_property
    def has_importers(self) -> bool:
        """Whether another file of the project imports this one at its top."""
        return next(self.importers(), None) is not None

    def importers(self) -> Iterator[SemanticIndex]:
        """The other files of the project that import this one at their top."""
        folder, file = os.path.split(os.path.abspath(self._path))
        name = os.path.splitext(file)[0]
        itself = self.itself()
        others = self.others_mentioning(os.path.basename(folder) if name == "__init__" else name)
        return (other for other in others if any(itself is one for one in other.imported.files()))

    def is_used_by(self, other: SemanticIndex) -> bool:
        """Whether another file imports this one, be it through what it imports."""
        itself, seen = self.itself(), {other}
        waiting = [other]
        for _ in range(_STEPS_TO_USERS):
            found = {file for one in waiting for file in one.imported.files(anywhere=True)}
            if itself in found:
                return True
            waiting = [file for file in found if file not in seen]
            seen |= found
        return False

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
            if (self._names.qualified(node) or "").startswith(ELSEWHERE):
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

    def brought_by_branches(self, node: ast.expr) -> list[Definition]:
        """What each of the imports brings one of which is made: ``if gan: from gan import Model`` and so on."""
        bindings = self._flow.reaching(node) if self.knows_others and isinstance(node, ast.Name) else ()
        if len(bindings) < _SEVERAL or any(binding.kind != "import" for binding in bindings):
            return []
        found = [self._bound([binding], set()) for binding in bindings]
        known = [item for item in found if item is not None]
        return known if len(known) == len(found) else []

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
        found = found or self._module_named(self._path, level, f"{module}.{name}" if module else name)
        if found is None and index is not None and not level and "." not in module:
            # `solver/solver.py`, with the folder `solver` itself on the path: the package has nothing of that name.
            index = self._library.module(self._path, level, f"{module}.{module}")
            found = None if index is None else index.imported.exported(name, index, seen)
        return found

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
