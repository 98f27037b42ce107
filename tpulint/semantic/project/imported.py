"""Definitions of other files of its project that one file runs, and that its values are instances of."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cached_property

from tpulint.semantic.project.imported_names import ELSEWHERE, ImportedNames
from tpulint.semantic.project.other_files import Definition, Library, methods
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, is_super
from tpulint.semantic.syntax.tree import SyntaxTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.functions.kept_functions import KeptFunctions
    from tpulint.semantic.modules.unwrapped_models import UnwrappedModels
    from tpulint.semantic.project.chosen_modules import ChosenModules
    from tpulint.semantic.project.handed_objects import HandedObjects
    from tpulint.semantic.project.imported_classes import ImportedClasses
    from tpulint.semantic.project.outside import OutsideCall


class Imported(ImportedNames):
    """Answers about one file; what its names stand for, ``ImportedNames`` says."""

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
        super().__init__(tree, names, flow, library, outside)
        self._arguments_for = arguments_for
        self._returned_by = returned_by
        self._called: dict[ast.Call, tuple[Definition, ...]] = {}
        self.option_files: dict[ast.expr, str | None] = {}
        """The files that parse the options which expressions hold, of those that were looked for."""
        self.devices_returned: dict[tuple[ast.Call, tuple[int, ...]], bool] = {}
        """Calls of other files' functions that give a device, with the part of what they return, of those asked."""
        self.devices_given: dict[tuple[ast.Call, int | str], bool] = {}
        """Arguments of calls that other files take for devices, by place or name."""
        self.devices_held: dict[ast.expr, bool] = {}
        """Variables of other files that hold a device, of those that were asked for."""

    # ---------------------------------------------------------------- calls

    def called(self, call: ast.Call) -> Definition | None:
        """The function of another file that a call runs, or the class that it makes an instance of."""
        found = self.all_called(call)
        return found[0] if len(found) == 1 else None

    def all_called(self, call: ast.Call) -> tuple[Definition, ...]:
        """What a call may run in other files: several methods, where it is one of an instance of several classes.

        So are several functions of one name, one of which is imported: ``if fast: from fast import train``.
        """
        if not self.knows_others:
            return ()
        if call not in self._called:
            self._called[call] = ()  # a function that makes itself adds nothing
            self._called[call] = self._find_called(call)
        return self._called[call]

    def _find_called(self, call: ast.Call) -> tuple[Definition, ...]:
        name = self._names.qualified(call.func)
        if name is not None and name.startswith(ELSEWHERE):
            return ()
        found = self.definition(call.func)
        if found is not None:
            return () if isinstance(found.node, ast.Module) else (found,)
        branches = self.brought_by_branches(call.func) if name is None else []
        if branches:
            return () if any(isinstance(item.node, ast.Module) for item in branches) else tuple(dict.fromkeys(branches))
        kept = self.functions.of(call.func) if name is None else ()
        if kept:
            return kept
        if isinstance(call.func, ast.Attribute):
            if call.func.attr == "apply" and (applied := self.applied(call.func)) is not None:
                return (applied,)
            methods_called = methods(self._bases_of_self(call.func) or self.classes_of(call.func.value), call.func.attr)
            ran = methods_called or (self._object_called(call.func) if name is None else ())
            return ran or (tuple(self.classes.chosen.members(call.func)) if name is None else ())
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
        return tuple(self.bases_of(owner))

    def bases_of(self, owner: ast.ClassDef) -> list[Definition]:
        """The classes of other files that the head of a class of this file names."""
        found = (self.definition(base) for base in owner.bases)
        return [item for item in found if item is not None and item.is_class]

    @cached_property
    def calls(self) -> list[ast.Call]:
        """Calls that may run what other files define, in order of position: most calls of a file do not."""
        return [call for call in self._tree.calls if self._may_run(call)] if self.knows_others else []

    def _may_run(self, call: ast.Call) -> bool:
        if self.all_called(call):
            return True
        return self._names.qualified(call.func) is None and bool(self.classes_of(call.func))

    def of_package(self, package: str, name: str = "") -> list[Definition]:
        """The classes and functions of a name that the files of a package define; without one, all classes."""
        files = [] if self._library is None else self._library.package(self._path, package)
        if not name:
            return [Definition(index, node) for index in files for node in index.tree.classes]
        defining = (index for index in files if name in index.source.text)
        found = ((index, [*index.tree.classes, *index.definitions.named(name)]) for index in defining)
        return [Definition(index, node) for index, nodes in found for node in nodes if node.name == name]

    @cached_property
    def chosen_modules(self) -> ChosenModules:
        """The modules one of which is imported when the program runs."""
        from tpulint.semantic.project.chosen_modules import ChosenModules

        return ChosenModules(self._names, self._flow, self)

    @cached_property
    def unwrapped_models(self) -> UnwrappedModels:
        """Calls of functions that take the wrapper off a module."""
        from tpulint.semantic.modules.unwrapped_models import UnwrappedModels

        return UnwrappedModels(self._tree, self._names, self)

    # ---------------------------------------------------------------- classes

    @cached_property
    def classes(self) -> ImportedClasses:
        """The classes of other files that values are instances of."""
        from tpulint.semantic.project.imported_classes import ImportedClasses

        return ImportedClasses(
            self._tree, self._names, self._flow, self, self.handed, self._arguments_for, self._returned_by
        )

    @cached_property
    def functions(self) -> KeptFunctions:
        """The functions of other files that values are."""
        from tpulint.semantic.functions.kept_functions import KeptFunctions

        return KeptFunctions(self._names, self._flow, self, self.handed, self._arguments_for, self._returned_by)

    @cached_property
    def handed(self) -> HandedObjects:
        """What other files give to this one, be it through a base class."""
        from tpulint.semantic.project.handed_objects import HandedObjects

        return HandedObjects(self._tree, self._names, self, self._library, self._outside, self._returned_by)

    def classes_of(self, node: ast.expr) -> tuple[Definition, ...]:
        """The classes of other files of which an expression gives an instance of one; empty when it may be another."""
        return self.classes.of(node) if self.knows_others else ()

    def classes_here(self, node: ast.expr, index: SemanticIndex, depth: int = 0) -> tuple[Definition, ...]:
        """The classes that an expression of this file, whose index is ``index``, may be an instance of."""
        owners = index.definitions.classes.made(node)
        if owners:
            return tuple(Definition(index, owner) for owner in owners)
        found = self.classes.of(node, depth) if self.may_meet_others else ()
        # `model = Detector()` of this file, and `model = Segmenter(model)` of another in a branch.
        found = self.classes.of_each(node, index, depth) if not found and isinstance(node, ast.Name) else found
        return found or self.classes.made_within(node, index, depth)

    def class_of(self, node: ast.expr) -> Definition | None:
        """The class of another file that a variable, ``self.x`` or a call gives an instance of."""
        found = self.classes_of(node)
        return found[0] if len(found) == 1 else None
