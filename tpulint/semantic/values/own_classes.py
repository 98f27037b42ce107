"""Classes of the file that its values are instances of."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.semantic.project.outside import OutsideCall, classes_of_file, qualified_in_file
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding, part_of
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import itself
from tpulint.semantic.values.asked_classes import asked_classes, is_derived_from
from tpulint.semantic.values.loaded_objects import is_loaded
from tpulint.semantic.values.module_lists import DEFAULT_DICT, ModuleLists
from tpulint.semantic.values.value import is_none
from tpulint.semantic.values.wrapped_modules import WRAPPED, is_made_of_torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.functions.definitions import Definitions

_DEPTH = 5
"""Names that a class is followed through."""


class OwnClasses:
    """Answers about one file, whose ``Definitions`` ask; those of other files are ``ImportedClasses``."""

    def __init__(
        self, tree: SyntaxTree, names: Names, flow: Flow, definitions: Definitions, outside: Sequence[OutsideCall]
    ) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self.handed = classes_of_file(outside, tree.source.path)
        """Names of classes of this file, by function and parameter, that other files hand over objects of."""
        self._found: dict[ast.expr, tuple[ast.ClassDef, ...]] = {}

    @property
    def lists(self) -> ModuleLists:
        """Made anew for each question: kept, it and this object would know each other, a circle that would stay."""
        return ModuleLists(self._tree, self._names, self._bindings_of, self._definitions.returned_by)

    def one_of_variable(self, name: ast.Name | ast.Attribute) -> ast.ClassDef | None:
        """The class of this file a variable is an instance of, through ``.to(...)`` and the like."""
        found = self.of_variable(name)
        return found[0] if len(found) == 1 else None

    def of_variable(self, name: ast.Name | ast.Attribute, depth: int = 0) -> tuple[ast.ClassDef, ...]:
        """The classes of this file of which a variable is an instance of one; empty when it may be of another.

        A parameter is what the calls in this file give for it.
        """
        found = self._found.get(name)
        if found is None:
            if depth > _DEPTH:
                return ()
            self._found[name] = ()  # a variable that depends on itself adds nothing
            found = self._found[name] = self._find(name, depth) or self._asked(name)
        return found

    def _asked(self, name: ast.Name | ast.Attribute) -> tuple[ast.ClassDef, ...]:
        """The classes of which a condition around the use has found the variable to be one."""
        asked = asked_classes(self._tree, self._names, name) if isinstance(name, ast.Name) else []
        found = [self._names.class_named(item) for item in asked]
        known = tuple(
            owner for owner in found if owner is not None and not is_derived_from(self._tree, self._names, owner)
        )
        return known if len(known) == len(found) else ()

    def _find(self, name: ast.Name | ast.Attribute, depth: int) -> tuple[ast.ClassDef, ...]:
        if isinstance(name, ast.Name):
            bindings = self._flow.made(name)
        else:
            own = self._flow.reaching_attribute(name) or self._flow.inherited_attribute(name)
            bindings = own or self.bindings_of_part(name, depth)
            if not bindings and name.attr == WRAPPED and isinstance(name.value, ast.Name | ast.Attribute):
                wrapped = self.of_variable(name.value, depth + 1)
                return wrapped if all(map(self._definitions.is_module_class, wrapped)) else ()
        values: list[ast.expr | None] = [] if bindings else [*self._shown(name)]
        found: dict[ast.ClassDef, None] = {}
        for binding in bindings:
            if binding.kind == "loop" and binding.value is not None:
                elements = self.of_elements(self.lists.gone_through(binding.value, binding.path), depth + 1)
                if not elements:
                    return ()
                found.update(dict.fromkeys(elements))
                continue
            if binding.kind == "augment":
                continue  # `buffer += episode`: of what class it was, it is
            if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
                given = self._definitions.arguments.of(binding.statement, binding.name)
                names = self.handed.get((qualified_in_file(self._tree, binding.statement), binding.name), ())
                handed = [owner for owner in self._tree.classes if owner.name in names]
                found.update(dict.fromkeys(handed))
                values.extend(given or ([] if handed else [binding.value]))  # what no call gives is its default
                continue
            value = part_of(binding.value, binding.path) if binding.kind == "assign" else None
            value = value or _given_back(binding)
            if not is_none(value):
                values.append(value)
        for value in values:
            made = () if value is None else self.made(value, depth + 1)
            if not made and not is_loaded(self._names, self._flow, value):
                return ()
            found.update(dict.fromkeys(made))
        return tuple(found)

    def _shown(self, name: ast.Name | ast.Attribute) -> list[ast.expr]:
        """What a property of this file returns: ``self.net``."""
        properties = self._definitions.properties(name.attr) if isinstance(name, ast.Attribute) else []
        shown = self._definitions.method_named(name) if properties and isinstance(name, ast.Attribute) else None
        return self._definitions.returned_by(shown) if shown is not None and shown in properties else []

    def bindings_of_part(self, node: ast.Attribute, depth: int = 0) -> tuple[Binding, ...]:
        """What the classes of an object give an attribute of it: ``agent.network``."""
        if not isinstance(node.value, ast.Name | ast.Attribute):
            return ()
        owners = self.of_variable(node.value, depth + 1)
        return tuple(binding for owner in owners for binding in self._names.attribute_bindings(owner, node.attr))

    def _bindings_of(self, node: ast.expr) -> tuple[Binding, ...]:
        """The values of a variable, of ``self.x``, and of an attribute of an object of a class of this file."""
        found = self._flow.bindings_of(node)
        return found or (self.bindings_of_part(node) if isinstance(node, ast.Attribute) else ())

    def of_elements(self, parts: list[ast.expr], depth: int = 0) -> tuple[ast.ClassDef, ...]:
        """The classes of this file of which all of these elements of a collection are; those of torch are left out."""
        found = [self._of_element(part, depth) for part in parts if not self._is_of_torch(part)]
        return tuple(dict.fromkeys(owner for owners in found for owner in owners)) if all(found) else ()

    def _of_element(self, part: ast.expr, depth: int) -> tuple[ast.ClassDef, ...]:
        if depth > _DEPTH:
            return ()
        if isinstance(part, ast.Call) and self._names.qualified(part.func) == DEFAULT_DICT:
            owner = self._names.class_named(part.args[0])
            return () if owner is None else (owner,)
        bindings = self._flow.bindings_of(part) if isinstance(part, ast.Name) else ()
        functions = [one.statement for one in bindings if one.kind == "parameter"]
        function = functions[0] if len(functions) == 1 == len(bindings) else None
        if isinstance(part, ast.Name) and isinstance(function, FUNCTIONS):  # a collection that calls give, perhaps
            given = self._definitions.arguments.of(function, part.id)
            inner = [[*self.lists.parts_of(item), *self.lists.entries_of(item)] for item in given]
            if inner and all(inner):
                return self.of_elements([item for items in inner for item in items], depth + 1)
        return self.made(part, depth + 1)

    def _is_of_torch(self, part: ast.expr) -> bool:
        return is_none(part) or is_made_of_torch(self._names, part)

    def made(self, value: ast.expr, depth: int = 0) -> tuple[ast.ClassDef, ...]:
        """Classes of this file of which an expression gives an instance."""
        value = itself(value)
        if isinstance(value, ast.Call):
            if self._names.qualified(value.func) in facts.SAME_CLASS and value.args:
                return self.made(value.args[0], depth)
            wrapped = self._definitions.wrapped(value)
            if wrapped is not None:
                return self.made(wrapped, depth)
            owner = self._definitions.class_called(value) or self._loaded(value)
            return self._chosen(value.func) if owner is None else (owner,)
        if isinstance(value, ast.IfExp):
            sides = self.made(value.body, depth), self.made(value.orelse, depth)
            return tuple(dict.fromkeys((*sides[0], *sides[1]))) if all(sides) else ()
        if isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Slice):
            if value not in self._found:
                self._found[value] = ()  # a call that gives an element to what it is called on adds nothing
                key = value.slice.value if isinstance(value.slice, ast.Constant) else None
                parts = self.lists.parts_of(value.value) or self.lists.entries_of(value.value, key)
                self._found[value] = self.of_elements(parts, depth + 1)
            return self._found[value]
        return self.of_variable(value, depth) if isinstance(value, ast.Name | ast.Attribute) else ()

    def _loaded(self, call: ast.Call) -> ast.ClassDef | None:
        """The class of this file in ``Net.from_pretrained(path)``, whose method is one of a base class."""
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr not in facts.LOADING_METHODS:
            return None
        owner = self._names.class_named(func.value)
        return owner if owner is not None and self._definitions.is_module_class(owner) else None

    def _chosen(self, func: ast.expr) -> tuple[ast.ClassDef, ...]:
        """``{"a": A, "b": B}[args.model]``, ``MODELS[args.model]``: any class of a dictionary that is written out."""
        if not isinstance(func, ast.Subscript):
            return ()
        bindings = self._flow.bindings_of(func.value)
        whole = bindings[0].value if len(bindings) == 1 and not bindings[0].path else func.value
        values = whole.values if isinstance(whole, ast.Dict) else []
        owners = [self._names.class_named(value) for value in values]
        classes = [owner for owner in owners if owner is not None]
        return tuple(dict.fromkeys(classes)) if len(classes) == len(owners) else ()


def _given_back(binding: Binding) -> ast.Name | None:
    """``model`` of ``model, optimizer = amp.initialize(model, optimizer)``: of what class it was, it is."""
    call = binding.value if binding.kind == "assign" and binding.path else None
    given = call.args if isinstance(call, ast.Call) else []
    return next((item for item in given if isinstance(item, ast.Name) and item.id == binding.name), None)
