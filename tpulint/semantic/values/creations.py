"""Which object an expression means: where it was created, through variables, attributes, parameters and returns."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from itertools import islice, takewhile

from tpulint.records import NamedTuple
from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree

_DEPTH = 20
_MOST = 16
_WRAPPERS = facts.MODULE_WRAPPERS | {
    "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
    "tpulint_runtime.autocast_model",
    "tpulint_runtime.synchronize_batch_norms",
}
"""Calls whose result holds the same parameters as their first argument."""
ANY_ELEMENT = "[]"
"""In a path: one of the elements of a collection, and nobody knows which."""


class Creation(NamedTuple):
    """One object of the program, or a part of one, by the place that created it."""

    node: ast.AST
    """The call that creates the object; the parameter or name behind which it cannot be followed."""
    path: tuple[str, ...] = ()
    """Attributes that lead to the part meant: ``model.encoder`` is part ``("encoder",)`` of the model."""
    context: tuple[ast.Call, ...] = ()
    """Calls of functions of this file through which the object came out: two calls give two objects."""
    way: tuple[ast.Call, ...] = ()
    """Method calls such as ``.to(device)`` that the object went through before it got here."""

    def overlaps(self, other: Creation) -> bool:
        """Whether one of the two may be the other or a part of it."""
        return self.node is other.node and _agree(self.path, other.path) and _agree(self.context, other.context)


def overlap(left: Iterable[Creation], right: Collection[Creation]) -> bool:
    """Whether any of some objects may be one of others, or a part of it."""
    return any(one.overlaps(other) for one in left for other in right)


def _agree(left: tuple[object, ...], right: tuple[object, ...]) -> bool:
    return all(a is b or a == b or _may_be_one(a, b) for a, b in zip(left, right, strict=False))


def _may_be_one(left: object, right: object) -> bool:
    """Whether one of two parts is any element of a collection, and the other an element, too."""
    if ANY_ELEMENT not in (left, right):
        return False
    return all(isinstance(item, str) and item.startswith("[") for item in (left, right))


def _element(index: ast.expr) -> str:
    """Which element of a list or dictionary an index means, as far as its text tells."""
    if isinstance(index, ast.Constant):
        return f"[{index.value!r}]"
    return f"[{index.id}]" if isinstance(index, ast.Name) else f"[{index.lineno}:{index.col_offset}]"


class Creations:
    """Where the objects of one file are created. Work is bounded; past the bound an expression stands for itself."""

    def __init__(self, tree: SyntaxTree, names: Names, flow: Flow, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._memo: dict[tuple[ast.expr, int], tuple[Creation, ...]] = {}
        self.unfollowed: dict[ast.AST, Binding] = {}
        """Bindings behind which objects were not followed, by the node that stands for the object."""

    def of(self, node: ast.expr) -> list[Creation]:
        """Objects that an expression may mean."""
        return list(self._of(node, 0))

    def of_part(self, node: ast.expr, path: tuple[str, ...]) -> list[Creation]:
        """Objects that a part of what an expression gives may be: ``("0",)`` where it is unpacked."""
        places = tuple(int(at) for at in takewhile(str.isdecimal, path))
        found = self._part(node, places, 0) if places else self._of(node, 0)
        return [one._replace(path=(*one.path, *path[len(places) :])) for one in islice(found, _MOST)]

    def of_binding(self, binding: Binding) -> list[Creation]:
        """Objects that a binding may give its name."""
        return list(islice(self._bound(binding, 0), _MOST))

    def _of(self, node: ast.expr, depth: int) -> tuple[Creation, ...]:
        """The first of them, each once. Ways to an object that branches change in turn are more than can be counted."""
        known = self._memo.get((node, depth))
        if known is None:
            found: dict[Creation, None] = {}
            for creation in self._find(node, depth):
                found[creation] = None
                if len(found) == _MOST:
                    break
            known = self._memo[node, depth] = tuple(found)
        return known

    def _find(self, node: ast.expr, depth: int) -> Iterator[Creation]:
        if depth > _DEPTH:
            yield Creation(node)
        elif isinstance(node, ast.Name):
            bindings = self._flow.reaching(node)
            for binding in bindings:
                yield from self._bound(binding, depth + 1)
            if not bindings:
                yield Creation(node)
        elif isinstance(node, ast.Attribute):
            bindings = self._flow.reaching_attribute(node)
            for binding in bindings:
                yield from self._bound(binding, depth + 1)
            if not bindings:
                for creation in self._of(node.value, depth + 1):
                    yield creation._replace(path=(*creation.path, node.attr))
        elif isinstance(node, ast.Subscript):
            for creation in self._of(node.value, depth + 1):
                yield creation._replace(path=(*creation.path, _element(node.slice)))
        elif isinstance(node, ast.Call):
            yield from self._created(node, depth)
        elif isinstance(node, ast.IfExp):
            yield from self._of(node.body, depth + 1)
            yield from self._of(node.orelse, depth + 1)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                yield from self._of(value, depth + 1)
        elif isinstance(node, ast.NamedExpr | ast.Await | ast.Starred):
            yield from self._of(node.value, depth + 1)
        elif not isinstance(node, ast.Constant):
            yield Creation(node)

    def _created(self, call: ast.Call, depth: int) -> Iterator[Creation]:
        func = call.func
        is_self = isinstance(func, ast.Attribute) and func.attr in facts.MODULE_SELF_METHODS
        if is_self and self._names.qualified(func) is None and self._definitions.function_called(call) is None:
            assert isinstance(func, ast.Attribute)
            for creation in self._of(func.value, depth + 1):
                yield creation._replace(way=(*creation.way, call))
            return
        if self._names.qualified(func) in _WRAPPERS and call.args:
            yield from self._of(call.args[0], depth + 1)
            return
        function = self._definitions.function_called(call)
        if function is not None:
            yield from self._returned(function, (), call, depth)
            return
        yield Creation(call)

    def _bound(self, binding: Binding, depth: int) -> Iterator[Creation]:
        if binding.kind == "parameter" and isinstance(binding.node, ast.arg):
            yield from self._parameter(binding, binding.node, depth)
        elif binding.kind in ("assign", "with") and binding.value is not None:
            yield from self._part(binding.value, binding.path, depth)
        elif binding.kind == "loop" and isinstance(binding.value, ast.Tuple | ast.List):
            for item in binding.value.elts:
                yield from self._part(item, binding.path, depth)
        else:
            self.unfollowed[binding.node] = binding
            yield Creation(binding.node)

    def _part(self, node: ast.expr, path: tuple[int, ...], depth: int) -> Iterator[Creation]:
        """Creations of one part of an unpacked expression."""
        if not path:
            yield from self._of(node, depth + 1)
        elif isinstance(node, ast.Tuple | ast.List) and -len(node.elts) <= path[0] < len(node.elts):
            yield from self._part(node.elts[path[0]], path[1:], depth + 1)
        elif isinstance(node, ast.Call) and (function := self._definitions.function_called(node)) is not None:
            yield from self._returned(function, path, node, depth)
        elif (whole := self._whole(node)) is not None and depth < _DEPTH:
            yield from self._part(whole[0], (*whole[1], *path), depth + 1)
        elif self._is_parameter(node) and path[0] >= 0:
            for creation in self._of(node, depth + 1):  # the same as `loaders[0]`
                yield creation._replace(path=(*creation.path, f"[{path[0]}]", *map(str, path[1:])))
        else:
            yield Creation(node, tuple(str(item) for item in path))

    def _whole(self, node: ast.expr) -> tuple[ast.expr, tuple[int, ...]] | None:
        """What is unpacked later, `loaders, count = build()` and `train, test = loaders`, where one value is given.

        With the part of its value that it is.
        """
        bindings = self._flow.reaching(node) if isinstance(node, ast.Name) else ()
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        return None if value is None else (value, bindings[0].path)

    def _is_parameter(self, node: ast.expr) -> bool:
        bindings = self._flow.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(bindings) and all(one.kind == "parameter" for one in bindings)

    def _returned(
        self, function: FunctionNode, path: tuple[int, ...], call: ast.Call, depth: int
    ) -> Iterator[Creation]:
        found = False
        for node in self._tree.inside(function, functions=False):
            if isinstance(node, ast.Return) and node.value is not None and depth < _DEPTH - 2:
                for creation in self._part(node.value, path, depth + 2):
                    found = True
                    inside = self._tree.encloses(function, creation.node)
                    # What comes in through a parameter is the same object whoever calls.
                    yield creation._replace(context=(call, *creation.context)) if inside else creation
        if not found:
            yield Creation(call, tuple(str(item) for item in path))

    def _parameter(self, binding: Binding, argument: ast.arg, depth: int) -> Iterator[Creation]:
        function = binding.statement
        values: list[ast.expr] = []
        if isinstance(function, FUNCTIONS) and depth < _DEPTH - 2:
            owner = self._tree.class_of(function)
            first = function.args.args[0].arg if function.args.args else ""
            if owner is not None and argument.arg == first:
                if function.name != "__init__":
                    calls = self._definitions.calls_of(function)
                    values = [call.func.value for call in calls if isinstance(call.func, ast.Attribute)]
                    # `self.other()` inside the class says nothing about which object it is.
                    values = [value for value in values if not (isinstance(value, ast.Name) and value.id == first)]
            else:
                arguments = self._definitions.arguments
                values = arguments.of(function, binding.name) or arguments.when_chosen(function, binding.name)
        for value in values:
            yield from self._of(value, depth + 2)
        if not values:
            self.unfollowed[argument] = binding
            yield Creation(argument)
