"""Classes of other files that the values of one file are instances of."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.project.chosen_classes import ChosenClasses, is_module
from tpulint.semantic.project.chosen_options import without_options
from tpulint.semantic.project.handed_objects import HandedObjects
from tpulint.semantic.project.other_files import Definition, all_of, methods, objects_returned, returned, unpacked
from tpulint.semantic.project.outside import RESULT
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding, element_at, part_of
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, is_of_self
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import itself
from tpulint.semantic.values.asked_classes import asked_classes, is_derived_from
from tpulint.semantic.values.loaded_objects import LOADS, is_loaded
from tpulint.semantic.values.module_lists import DEFAULT_DICT, SEQUENTIAL, ModuleLists
from tpulint.semantic.values.value import is_none
from tpulint.semantic.values.wrapped_modules import WRAPPED, is_made_of_torch, wraps_itself

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.project.imported import Imported

_DEPTH = 24


class ImportedClasses:
    """Answers about one file, whose ``Imported`` asks."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        flow: Flow,
        imported: Imported,
        handed: HandedObjects,
        arguments_for: Callable[[FunctionNode, str], list[ast.expr]],
        returned_by: Callable[[FunctionNode], list[ast.expr]],
    ) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._imported = imported
        self._handed = handed
        self._arguments_for = arguments_for
        self._returned_by = returned_by
        self._lists = ModuleLists(tree, names, flow.bindings_of, returned_by)
        self._memo: dict[ast.expr, tuple[Definition, ...]] = {}
        self._within: dict[ast.expr, tuple[Definition, ...]] = {}
        self.chosen = ChosenClasses(tree, names, flow, imported, handed)

    def of(self, node: ast.expr, depth: int = 0) -> tuple[Definition, ...]:
        """The classes of other files of which an expression gives an instance of one; empty when it may be another."""
        if not self._imported.may_meet_others or depth > _DEPTH:
            return ()
        if node not in self._memo:
            self._memo[node] = ()
            self._memo[node] = self._find(node, depth)
        return self._memo[node]

    def _find(self, node: ast.expr, depth: int) -> tuple[Definition, ...]:
        if isinstance(node, ast.Call):
            return self._made(node, depth)
        if isinstance(node, ast.IfExp):
            sides = [side for side in (node.body, node.orelse) if not self.is_elsewhere(side)]
            return all_of([self.of(side, depth + 1) for side in sides])
        if isinstance(node, ast.Subscript):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            parts = self._lists.parts_of(node.value) or self._lists.entries_of(node.value, key)
            of_parts = self._of_parts(parts, depth)
            return of_parts if of_parts or not isinstance(key, str) else self._of_entry(node.value, key, depth)
        if isinstance(node, ast.List | ast.Tuple | ast.ListComp):
            return self._of_parts(self._lists.parts_of(node), depth)
        bindings = self._flow.made(node) if isinstance(node, ast.Name) else self._flow.bindings_of(node)
        bindings = tuple(binding for binding in bindings if binding.kind != "augment")  # `buffer += episode`
        bindings = without_options(self._tree, bindings) if len(bindings) > 1 else bindings
        if isinstance(node, ast.Attribute):
            bindings = tuple(binding for binding in bindings if not wraps_itself(binding, node))
        if isinstance(node, ast.Attribute) and not bindings:
            return self._of_attribute(node, depth) or self._shown(node, depth) or self._kept_by_base(node, depth)
        if any(isinstance(binding.value, ast.List) and not binding.value.elts for binding in bindings):
            filled = self._of_parts(self._lists.parts_of(node), depth)  # `blocks = []`, `blocks.append(Block())`
            if filled:
                return filled
        # The value of a parameter is its default, `augment=None`, which does not matter where calls give another one.
        found = [
            (self.is_elsewhere(binding.value), self._bound(binding, depth) or self._wrapped_again(binding, depth))
            for binding in bindings
        ]
        known = all_of([made for is_elsewhere, made in found if made or not is_elsewhere])
        return known or (self._asked(node) if isinstance(node, ast.Name) else ())

    def of_each(self, name: ast.Name, index: SemanticIndex, depth: int) -> tuple[Definition, ...]:
        """The classes of all that a variable is given, some of which may be of this file, whose index is ``index``."""
        if depth > _DEPTH:
            return ()
        found: list[tuple[Definition, ...]] = []
        for binding in self._flow.made(name):
            if self.is_elsewhere(binding.value):
                continue
            is_given = isinstance(binding.value, ast.Call) and binding.kind == "assign" and not binding.path
            value = binding.value if is_given else None
            found.append(() if value is None else self._imported.classes_here(value, index, depth + 1))
        return all_of(found)

    def _asked(self, name: ast.Name) -> tuple[Definition, ...]:
        """The classes of which a condition around the use has found a variable to be one."""
        found = [self._imported.definition(item) for item in asked_classes(self._tree, self._names, name)]
        known = tuple(
            item
            for item in found
            if item is not None
            and isinstance(item.node, ast.ClassDef)
            and not is_derived_from(item.file.tree, item.file.names, item.node)
        )
        return known if len(known) == len(found) else ()

    def _of_entry(self, whole: ast.expr, key: str, depth: int) -> tuple[Definition, ...]:
        """``state["model"]`` of ``state = {"model": kwargs["model"]}``, which a call in another file has given."""
        found: list[tuple[Definition, ...]] = []
        for binding in self._flow.bindings_of(whole):
            made, function = binding.value, binding.statement
            if binding.kind == "variadic" and isinstance(function, FUNCTIONS):
                found.append(tuple(Definition(*item) for item in self._handed.given(function, key)))
            elif binding.kind == "assign" and isinstance(made, ast.Dict) and not binding.path:
                named = zip(made.keys, made.values, strict=True)
                values = [value for at, value in named if isinstance(at, ast.Constant) and at.value == key]
                found.append(self.of(values[0], depth + 1) if len(values) == 1 else ())
            else:
                found.append(())
        return all_of(found)

    def _wrapped_again(self, binding: Binding, depth: int) -> tuple[Definition, ...]:
        """Classes of a module that something unknown is given, and gives back: ``model, opt = prepare(model, opt)``."""
        call = binding.value
        if binding.kind != "assign" or not isinstance(call, ast.Call) or not isinstance(binding.node, ast.Name):
            return ()
        given = values_given(call)
        same = [item for item in given if isinstance(item, ast.Name) and item.id == binding.name]
        made = self.of(same[0], depth + 1) if len(same) == 1 else ()
        return made if all(is_module(item) for item in made) else ()

    def _of_parts(self, parts: list[ast.expr], depth: int) -> tuple[Definition, ...]:
        """The classes of the elements of a list of modules, those of torch left out."""
        others = (part for part in parts if not self.is_elsewhere(part) and not self._is_made_of_torch(part))
        return all_of([self.of(part, depth + 1) for part in others])

    def _is_made_of_torch(self, part: ast.expr) -> bool:
        """Whether a function of this file gives a module of torch: ``conv(3, 8)``, which puts it together."""
        given = self._results_here(part.func) if isinstance(part, ast.Call) else []
        made = [self._flow.made(value) if isinstance(value, ast.Name) else () for value in given]
        whole = [[one.value for one in bound] or [value] for bound, value in zip(made, given, strict=True)]
        return bool(given) and all(self.is_elsewhere(value) for values in whole for value in values)

    def _of_attribute(self, node: ast.Attribute, depth: int) -> tuple[Definition, ...]:
        """Classes of an attribute of an object whose class another file defines: ``agent.network``."""
        found = []
        owners = self.of(node.value, depth + 1)
        if node.attr == WRAPPED and owners and all(map(is_module, owners)):
            return owners  # of `net.module` that of `net`, which a wrapper does not change
        for owner in owners:
            if isinstance(owner.node, ast.ClassDef):
                other = owner.file
                bound = other.names.attribute_bindings(owner.node, node.attr)
                values = [binding.value for binding in bound if not self.is_elsewhere(binding.value)]
                kept = () if bound else other.imported.handed.kept_above(owner.node, node.attr)
                for file, value in kept:
                    there = file or other
                    found.append(() if value is None else there.imported.classes_here(value, there, depth + 2))
                if not bound and not kept:  # a property, as `trainer.net`
                    shown = other.definitions.method(owner.node, node.attr)
                    is_property = shown is not None and shown in other.definitions.properties(node.attr)
                    values = [*other.definitions.returned_by(shown)] if is_property and shown is not None else []
                for value in values:
                    known = () if value is None else other.imported.classes_here(value, other, depth + 2)
                    if value is not None and not known and bound and depth < _DEPTH:
                        from tpulint.semantic.project.constructed_parts import classes_constructed_with

                        known = classes_constructed_with(owner, value, depth + 2)
                    found.append(known)
        return all_of(found)

    def _shown(self, node: ast.Attribute, depth: int) -> tuple[Definition, ...]:
        """Classes of what a property of a method's own class returns: ``self.net``, for ``self.runner.net``."""
        owner = self._tree.class_of(node) if is_of_self(node) and "property" in self._tree.source.text else None
        if owner is None:
            return ()
        from tpulint.semantic.functions.definitions import is_property

        own = (item for item in owner.body if isinstance(item, FUNCTIONS) and item.name == node.attr)
        shown = next(filter(is_property, own), None)
        return () if shown is None else all_of([self.of(value, depth + 1) for value in self._returned_by(shown)])

    def _kept_by_base(self, node: ast.Attribute, depth: int) -> tuple[Definition, ...]:
        """Classes of ``self.model``, which a base class of another file sets, of that file or others."""
        parts: list[tuple[Definition, ...]] = []
        for file, value in self._handed.kept_by_base(node):
            if value is None or file is None:
                parts.append(() if value is None else self.of(value, depth + 2))
            else:
                parts.append(file.imported.classes_here(value, file, depth + 2))
        return all_of(parts) or tuple(Definition(*item) for item in self._handed.given_to_base(node))

    def is_elsewhere(self, value: ast.expr | None) -> bool:
        """Whether a value is no instance of a class of the project: None, a function, or one of a class of torch.

        What is loaded from a file was an instance of the class that is made otherwise.
        """
        if isinstance(value, ast.Lambda) or (value is not None and self._is_function(value)):
            return True
        value = None if value is None else itself(value)
        made = self._names.qualified(value.func) if isinstance(value, ast.Call) else None
        if is_loaded(self._names, self._flow, value) or (isinstance(value, ast.Call) and self._is_loaded(value)):
            return True
        if made == SEQUENTIAL and value is not None and self.of(value):
            return False
        return is_none(value) or (value is not None and is_made_of_torch(self._names, value))

    def _is_function(self, node: ast.expr) -> bool:
        """Whether a name stands for a function, of this file or of another."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return False
        bindings = self._names.bindings(node) if isinstance(node, ast.Name) else []
        found = self._imported.definition(node)
        here = len(bindings) == 1 and isinstance(bindings[0].node, FUNCTIONS)
        return here or (found is not None and isinstance(found.node, FUNCTIONS))

    def _is_loaded(self, call: ast.Call) -> bool:
        """``load_memory(path)``, a function that returns what it loads."""
        found = self._imported.definition(call.func)
        names = self._names if found is None else found.file.names
        given = self._results_here(call.func) if found is None else returned(found)
        made = (names.qualified(item.func) if isinstance(item, ast.Call) else None for item in given)
        return bool(given) and all(name in LOADS for name in made)

    def _bound(self, binding: Binding, depth: int) -> tuple[Definition, ...]:
        value = binding.value
        if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
            given = self._arguments_for(binding.statement, binding.name)
            here = all_of([self.of(item, depth + 1) for item in given])
            handed = (Definition(*item) for item in self._handed.given(binding.statement, binding.name))
            return tuple(dict.fromkeys((*here, *handed)))
        if binding.kind == "with" and value is not None and not binding.path:
            return self.of(value, depth + 1)
        if binding.kind == "loop" and value is not None:
            return self._of_parts(self._lists.gone_through(value, binding.path), depth)
        if binding.kind != "assign" or value is None:
            return ()
        if binding.path and isinstance(value, ast.Call):
            return self._of_part_returned(value, binding.path, depth)
        if binding.path and isinstance(value, ast.Name):
            return self._of_elements(value, binding.path, depth)
        part = part_of(value, binding.path)
        return () if part is None else self.of(part, depth + 1)

    def _of_elements(self, name: ast.Name, path: tuple[int, ...], depth: int) -> tuple[Definition, ...]:
        """Classes of ``net_g`` in ``net_g, net_d = nets``, where ``nets`` is a list or what calls here give for it."""
        wholes: list[ast.expr | None] = []
        for binding in self._flow.reaching(name):
            if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
                wholes += self._arguments_for(binding.statement, binding.name) or [None]
            else:
                wholes.append(binding.value if binding.kind == "assign" and not binding.path else None)
        parts = [element_at(whole, path) for whole in wholes]
        return all_of([() if part is None else self.of(part, depth + 1) for part in parts])

    def _of_part_returned(self, call: ast.Call, path: tuple[int, ...], depth: int) -> tuple[Definition, ...]:
        """Classes of a part of what a function returns: ``model, optimizer = build(options)``.

        That function may return what another one does: ``return build(options)``.
        """
        if depth > _DEPTH:
            return ()
        found = self._imported.definition(call.func)
        if found is None:
            here = unpacked(self._results_here(call.func))
            noted = self._imported.functions.of(call.func) if not here else ()
            if noted:
                made = [(run.file, value) for run in noted for value in unpacked(returned(run))]
                return all_of([file.imported.classes._of_part(value, path, file, depth) for file, value in made])
            if not here:
                return self._returned_by_derived(call.func, path)
            return all_of([self._of_part(value, path, None, depth) for value in here])
        given = unpacked(returned(found))
        return all_of([found.file.imported.classes._of_part(value, path, found.file, depth) for value in given])

    def _of_part(
        self, value: ast.expr, path: tuple[int, ...], index: SemanticIndex | None, depth: int
    ) -> tuple[Definition, ...]:
        """Classes of a part of a value of this file, whose index is given when another file asks."""
        if isinstance(value, ast.Call):
            return self._of_part_returned(value, path, depth + 1)
        part = part_of(value, path)
        if part is None:
            return ()
        return self.of(part, depth + 1) if index is None else self._imported.classes_here(part, index, depth + 1)

    def _made(self, call: ast.Call, depth: int) -> tuple[Definition, ...]:
        if self._names.qualified(call.func) == DEFAULT_DICT and call.args:  # asked for its class, what it makes
            one = self._imported.definition(call.args[0])
            return (one,) if one is not None and one.is_class else ()
        if isinstance(call.func, ast.Attribute) and call.func.attr in facts.MODULE_SELF_METHODS:
            return self.of(call.func.value, depth + 1)
        if self._names.qualified(call.func) in facts.SAME_CLASS and call.args:
            return self.of(call.args[0], depth + 1)
        wrapped = self._imported.unwrapped_models.wrapped(call)
        if wrapped is not None:
            return self.of(wrapped, depth + 1)
        if self._names.qualified(call.func) == SEQUENTIAL:
            return self._of_parts(self._lists.parts_of(call), depth)
        found = self._imported.definition(call.func)
        if found is None:
            return self._returned_here(call.func, depth) or self.chosen.by(call.func) or self._of_method(call, depth)
        if isinstance(found.node, ast.Module):
            return ()
        if isinstance(found.node, ast.ClassDef):
            return (found,)
        # `build_model(config)` gives what it returns.
        other = found.file
        parts = []
        for value in objects_returned(found):
            if other.imported.classes.is_elsewhere(value):
                continue
            given = self._handed.given_back(call, found, value)
            if given is None:
                parts.append(other.imported.classes_here(value, other, depth + 1))
            else:
                parts.append(self.of(given, depth + 1))
        return all_of(parts)

    def made_within(self, node: ast.expr, index: SemanticIndex, depth: int) -> tuple[Definition, ...]:
        """Classes of what another function of this file, whose index is given, makes: ``return _resnet(Block, 2)``."""
        call = itself(node)
        function = index.definitions.function_called(call) if isinstance(call, ast.Call) else None
        if function is None or depth > _DEPTH or call in self._within:
            return () if function is None else self._within.get(call, ())
        self._within[call] = ()
        values = [
            value
            for value in objects_returned(Definition(index, function))
            if not self.is_elsewhere(value)
            and not (isinstance(value, ast.Call) and index.definitions.function_called(value) is function)
        ]  # what a function gives that calls itself is what it gives otherwise
        self._within[call] = all_of([self._imported.classes_here(value, index, depth + 1) for value in values])
        return self._within[call]

    def _of_method(self, call: ast.Call, depth: int) -> tuple[Definition, ...]:
        """Classes of what a method of an object of the project returns: ``self.experiment.get_model()``."""
        if not isinstance(call.func, ast.Attribute):
            return ()
        parts = []
        for run in methods(self.of(call.func.value, depth + 1), call.func.attr):
            for value in returned(run):
                given = self._handed.given_back(call, run, value)
                here = run.file.imported.classes_here(value, run.file, depth + 2) if given is None else ()
                parts.append(here if given is None else self.of(given, depth + 1))
        return all_of(parts)

    def _returned_here(self, func: ast.expr, depth: int) -> tuple[Definition, ...]:
        """Classes of other files of what a function of this file returns: ``get_model(config)``."""
        values = self._results_here(func)
        return all_of([self.of(value, depth + 1) for value in values]) or self._returned_by_derived(func, ())

    def _returned_by_derived(self, func: ast.expr, path: tuple[int, ...]) -> tuple[Definition, ...]:
        """Classes of what classes of other files return that are derived from the one whose method is called."""
        method = self._method_of_own(func) if isinstance(func, ast.Attribute) else None
        given = () if method is None else self._handed.given(method, RESULT.format(path))
        return tuple(Definition(*item) for item in given)

    def _results_here(self, func: ast.expr) -> list[ast.expr]:
        """What a function of this file, or another method of the class around it, returns."""
        if isinstance(func, ast.Attribute):
            function = self._method_of_own(func)
        else:
            bindings = self._names.bindings(func) if isinstance(func, ast.Name) else []
            function = bindings[0].node if len(bindings) == 1 else None  # type: ignore[assignment]
        return self._returned_by(function) if isinstance(function, FUNCTIONS) else []

    def _method_of_own(self, func: ast.Attribute) -> FunctionNode | None:
        """The method ``self.build`` of the class around it, ``engine.build`` of ``engine = Engine()``."""
        if not isinstance(func.value, ast.Name):
            return None
        owner = self._tree.class_of(func) if func.value.id == "self" else self._class_made(func.value)
        methods = (
            [item for item in owner.body if isinstance(item, FUNCTIONS) and item.name == func.attr] if owner else []
        )
        return methods[0] if len(methods) == 1 else None

    def _class_made(self, name: ast.Name) -> ast.ClassDef | None:
        """The class of this file of which a variable is made an instance, or entered as one: ``with Engine() as e``."""
        bindings = self._flow.reaching(name)
        made = bindings[0].value if len(bindings) == 1 and bindings[0].kind in ("assign", "with") else None
        is_plain = isinstance(made, ast.Call) and not bindings[0].path
        return self._names.class_named(made.func) if is_plain and isinstance(made, ast.Call) else None
