"""Classes of objects that a file does not make: other files hand them over, or a base class there keeps them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, starts_base
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import itself
from tpulint.semantic.values.value import beside_none
from tpulint.semantic.values.wrapped_modules import wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.project.imported import Imported
    from tpulint.semantic.project.other_files import Definition, Library
    from tpulint.semantic.project.outside import OutsideCall
    from tpulint.semantic.syntax.bindings import Binding

_START = "__init__"
_DEPTH = 10
"""Classes above one another that an attribute is looked for in."""

Kept = tuple["SemanticIndex | None", ast.expr | None]
"""A value that a base class keeps, with its file where that is another; no value where nobody knows."""


class HandedObjects:
    """Answers about one file, whose ``Imported`` asks."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        imported: Imported,
        library: Library | None,
        outside: Sequence[OutsideCall],
        returned_by: Callable[[FunctionNode], list[ast.expr]],
    ) -> None:
        self._tree = tree
        self._names = names
        self._imported = imported
        self._library = library
        self._returned_by = returned_by
        self._given: dict[tuple[str, str], dict[tuple[str, str], None]] = {}
        for call in outside if library is not None else ():
            for parameter, path, name in call.classes:
                self._given.setdefault((call.function, parameter), {})[path, name] = None

    def given(self, function: FunctionNode, parameter: str) -> Iterator[tuple[SemanticIndex, ast.ClassDef]]:
        """Classes, with their files, of what calls in other files give for a parameter: each of them may run."""
        return self._classes_given(qualified_in_file(self._tree, function), parameter)

    def _classes_given(self, function: str, parameter: str) -> Iterator[tuple[SemanticIndex, ast.ClassDef]]:
        for index, name in self._names_given(function, parameter):
            made = [item for item in index.tree.classes if item.name == name]
            if len(made) == 1:
                yield index, made[0]

    def functions(self, function: FunctionNode, parameter: str) -> Iterator[tuple[SemanticIndex, FunctionNode]]:
        """Functions, with their files, that calls in other files give for a parameter, alone or in a list.

        Of two that branches define under one name both.
        """
        for index, name in self._names_given(qualified_in_file(self._tree, function), parameter):
            yield from ((index, made) for made in index.definitions.named(name))

    def _names_given(self, function: str, parameter: str) -> Iterator[tuple[SemanticIndex, str]]:
        for path, name in self._given.get((function, parameter), ()):
            assert self._library is not None
            index = self._library.file(self._tree.source.path, path)
            if index is not None:
                yield index, name

    def given_to_base(self, node: ast.Attribute) -> Iterator[tuple[SemanticIndex, ast.ClassDef]]:
        """Classes of ``self.model`` that a base class of another file keeps of what its constructor is given.

        The class has no constructor of its own: its file is told of the calls that make objects of it.
        """
        owner = self._owner(node) if self._given else None
        if owner is None or _method(owner, _START) is not None:
            return
        bases = [*self._imported.bases_of(owner)]
        for base in bases:
            assert isinstance(base.node, ast.ClassDef)
            for binding in base.file.names.attribute_bindings(base.node, node.attr):
                value = None if binding.value is None else itself(binding.value)
                given = base.file.flow.reaching(value) if isinstance(value, ast.Name) else ()
                if len(given) == 1 and given[0].kind == "parameter":
                    yield from self._classes_given(started_by(owner), given[0].name)
            if _method(base.node, _START) is None and len(bases) < _DEPTH:
                bases += base.file.imported.bases_of(base.node)

    def kept_by_base(self, node: ast.Attribute) -> Sequence[Kept]:
        """Values of ``self.x`` that a base class sets, of this file or another, with their file where it is another.

        What one of another file is given by ``super().__init__(model)``, or asks a method for, stands here.
        """
        owner = self._owner(node)
        return () if owner is None else self.kept_above(owner, node.attr)

    def kept_above(self, owner: ast.ClassDef, attribute: str, depth: int = 0) -> Sequence[Kept]:
        """The same of an attribute of a class, which the base classes of its bases may set, each in its file."""
        for above in self._names.classes_above(owner)[1:]:
            here = [binding.value for binding in self._names.attribute_bindings(above, attribute)]
            values = [value for value in here if not self._imported.classes.is_elsewhere(value)]
            if values:
                up = (None if value is None else self._handed_up(owner, value) for value in values)
                return [(None, value if given is None else given) for value, given in zip(values, up, strict=True)]
        for base in self._imported.bases_of(owner) if depth < _DEPTH else ():
            assert isinstance(base.node, ast.ClassDef)
            others = base.file.imported
            bound = base.file.names.attribute_bindings(base.node, attribute)
            values = [binding.value for binding in bound if not others.classes.is_elsewhere(binding.value)]
            kept: Sequence[Kept] = [(None, value) for value in values]
            kept = kept or others.handed.kept_above(base.node, attribute, depth + 1)
            if kept:
                return [origin for file, value in kept for origin in self._origins(owner, file or base.file, value)]
        return ()

    def _handed_up(self, owner: ast.ClassDef, value: ast.expr) -> ast.expr | None:
        """What ``super().__init__(model)`` of a class gives for what a base class of this file keeps."""
        bindings = self._names.bindings(value) if isinstance(value, ast.Name) else []
        is_given = len(bindings) == 1 and bindings[0].kind == "parameter"
        return self._given_to_base(owner, bindings[0]) if is_given else None

    def _origins(self, owner: ast.ClassDef, file: SemanticIndex, value: ast.expr | None) -> list[Kept]:
        """Where a value comes from that a base class of another file keeps, which is part of every object of a class.

        Of that file is what a class of this one does not give.
        """
        if value is None:
            return [(file, None)]
        value = itself(value)
        if isinstance(value, ast.Name):
            bindings = file.flow.reaching(value)
            if len(bindings) == 1 and bindings[0].kind == "parameter":
                return [(None, self._given_to_base(owner, bindings[0]))]
        func = value.func if isinstance(value, ast.Call) else None
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self":
            own = _method(owner, func.attr)
            if own is not None:
                return [(None, item) for item in self._returned_by(own)]
        return [(file, value)]

    def _given_to_base(self, owner: ast.ClassDef, parameter: Binding) -> ast.expr | None:
        """What ``super().__init__(...)`` of a class gives for a parameter of its base."""
        start, function = _method(owner, _START), parameter.statement
        if start is None or not isinstance(function, FUNCTIONS) or function.name != _START:
            return None
        for call in self._tree.inside(start, functions=False):
            if isinstance(call, ast.Call) and starts_base(call):
                return dict(arguments_given(call, function, is_method=True)).get(parameter.name)
        return None

    def given_back(self, call: ast.Call, function: Definition, value: ast.expr) -> ast.expr | None:
        """What a call gives for the parameter that a function returns: ``model = to_device(Net())``."""
        parameter = parameter_in(function.file, value, 0)
        if parameter is None or not isinstance(function.node, FUNCTIONS):
            return None
        is_method = function.file.tree.class_of(function.node) is not None
        return dict(arguments_given(call, function.node, is_method)).get(parameter.name)

    def _owner(self, node: ast.Attribute) -> ast.ClassDef | None:
        """The class of the object, where the attribute is one of ``self``, be it in a function within the method."""
        bindings = self._names.bindings(node.value) if isinstance(node.value, ast.Name) else []
        method = bindings[0].statement if len(bindings) == 1 and bindings[0].kind == "parameter" else None
        if not isinstance(method, FUNCTIONS) or method.args.args[:1] != [bindings[0].node]:
            return None
        return self._tree.class_of(node)


def started_by(owner: ast.ClassDef) -> str:
    """By what name the file of a class is told of what makes objects of it, where its base class starts them."""
    return f"{owner.name}.{_START}"


def parameter_in(file: SemanticIndex, value: ast.expr, depth: int) -> Binding | None:
    """The parameter that a value is, on every way to it, maybe in a wrapper: ``model = DataParallel(model)``.

    So is what is left out where nothing is given: ``model.to(device) if model is not None else None``.
    """
    value = itself(wrapped(file.names, itself(beside_none(value))))
    bindings = file.flow.reaching(value) if isinstance(value, ast.Name) and depth < _DEPTH else ()
    found: set[Binding | None] = set()
    for binding in bindings:
        is_wrapped = binding.kind == "assign" and isinstance(binding.value, ast.Call) and not binding.path
        inner = parameter_in(file, binding.value, depth + 1) if is_wrapped and binding.value is not None else None
        found.add(binding if binding.kind == "parameter" else inner)
    return found.pop() if len(found) == 1 else None


def _method(owner: ast.ClassDef, name: str) -> FunctionNode | None:
    return next((item for item in owner.body if isinstance(item, FUNCTIONS) and item.name == name), None)
