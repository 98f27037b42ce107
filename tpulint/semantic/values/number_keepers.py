"""Objects of classes of the file that keep nothing but numbers of Python: the meter of times beside that of losses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.syntax.bindings import part_of
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.variables import root_of
from tpulint.semantic.values.creations import Creation
from tpulint.semantic.values.kept_tensors import Held
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_NO_TENSORS = frozenset({Kind.HOST, Kind.NUMPY, Kind.UNKNOWN})
"""What holds no tensor, as far as is known."""
_DISPLAYS = (ast.Dict, ast.List, ast.Tuple, ast.Set, ast.ListComp, ast.DictComp, ast.GeneratorExp)


class NumberKeepers:
    """Tells objects of a class apart by what each is given: for all of them, an attribute is one and the same thing."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._objects: dict[Creation, bool] = {}
        self._classes: dict[ast.ClassDef, bool] = {}

    def has(self, node: ast.expr) -> bool:
        """Whether an expression means objects that are given nothing but numbers, and make no tensors themselves."""
        found = self._index.moves.creations.of(node)
        return bool(found) and all(map(self._keeps_numbers, found))

    def _keeps_numbers(self, creation: Creation) -> bool:
        if creation not in self._objects:
            made = creation.node if isinstance(creation.node, ast.Call) and not creation.path else None
            owner = None if made is None else self._index.definitions.class_called(made)
            self._objects[creation] = (
                made is not None
                and owner is not None
                and self._is_made_of_given(owner)
                and all(map(self._is_number, values_given(made)))
                and all(map(self._is_number, self._given_later(creation, owner)))
            )
        return self._objects[creation]

    def _given_later(self, creation: Creation, owner: ast.ClassDef) -> Iterator[ast.expr]:
        """What calls of its methods give an object: through any variable, in any function of the file."""
        index = self._index
        for name in (item.name for item in owner.body if isinstance(item, FUNCTIONS)):
            for attribute in index.tree.attributes_called(name):
                call = index.parent(attribute)
                is_call = isinstance(call, ast.Call) and call.func is attribute
                if is_call and any(map(creation.overlaps, index.moves.creations.of(attribute.value))):
                    yield from values_given(call)  # type: ignore[arg-type]

    def _is_number(self, given: ast.expr) -> bool:
        if isinstance(given, ast.Starred) or self._index.kind(given) not in _NO_TENSORS:
            return False
        may_hold = isinstance(given, (ast.Name, ast.Attribute, *_DISPLAYS))
        return not may_hold or self._index.kinds.content(given, None, 0).kind in _NO_TENSORS

    def _is_made_of_given(self, owner: ast.ClassDef) -> bool:
        """Whether objects of a class keep no tensors but those that they are given, and what they compute of them."""
        if owner not in self._classes:
            attributes: set[str] = set()
            methods = [item for item in owner.body if isinstance(item, FUNCTIONS) and item.args.args]
            stored = [
                (kept, target, value)
                for method in methods
                for kept in (_given_to(method, attributes),)
                for target, value in self._stored(method)
            ]
            size = -1
            while size != len(attributes) + sum(len(kept.variables) for kept, _, _ in stored):
                size = len(attributes) + sum(len(kept.variables) for kept, _, _ in stored)
                for kept, target, value in stored:
                    if kept.in_(value):
                        kept.keep(target)
            bases = [self._index.qualified_name(base) for base in owner.bases]
            self._classes[owner] = all(base == "builtins.object" for base in bases) and all(
                isinstance(target, ast.Name) or kept.in_(value) or self._index.kind(value) in _NO_TENSORS
                for kept, target, value in stored
            )
        return self._classes[owner]

    def _stored(self, method: FunctionNode) -> Iterator[tuple[ast.expr, ast.expr]]:
        """What a method puts into variables, into attributes of its object, and into what they hold."""
        own = method.args.args[0].arg
        for node in self._index.tree.inside(method):
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target, value in (pair for one in targets for pair in _pairs(one, node.value)):
                    root = root_of(target)
                    if root is not None and (root is target or root.id == own):
                        yield target, value


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What each part of a tuple gets, where that is written out; else the whole."""
    for at, part in enumerate(target.elts) if isinstance(target, ast.Tuple | ast.List) else ():
        yield from _pairs(part, part_of(value, (at,)) or value)
    if not isinstance(target, ast.Tuple | ast.List):
        yield target, value


def _given_to(method: FunctionNode, attributes: set[str]) -> Held:
    """What holds what was given, in a method: its parameters, and these attributes of the object."""
    arguments = (*method.args.posonlyargs, *method.args.args, *method.args.kwonlyargs)
    return Held(method.args.args[0].arg, {argument.arg for argument in arguments[1:]}, attributes)
