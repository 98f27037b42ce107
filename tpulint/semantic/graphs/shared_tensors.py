"""Variables that may hold one tensor: what changes it through one of them is seen in the others."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tpulint.semantic.functions.passed_arguments import parameters_of
from tpulint.semantic.graphs.effects import Path, meet, path_of
from tpulint.semantic.project.other_files import Definition, definition_called
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 3
_VIEWS = facts.MOVES | {
    "detach", "view", "view_as", "reshape", "squeeze", "unsqueeze", "flatten", "expand", "expand_as", "permute",
    "transpose", "t", "select", "narrow", "chunk", "split", "unbind", "contiguous", "float", "double", "half",
    "bfloat16", "type", "requires_grad_",
}  # fmt: skip
_OF_COLLECTIONS = frozenset({"values", "items", "get", "pop", "popitem", "copy"})
_PUTTING = frozenset({"append", "appendleft", "add", "extend", "insert", "update"})
_HANDING_ON = frozenset(
    f"builtins.{name}" for name in ("list", "tuple", "dict", "zip", "enumerate", "reversed", "sorted", "iter", "next",
                                    "max", "min")
)  # fmt: skip
_DISPLAYS = (ast.List, ast.Tuple, ast.ListComp)
Tie = tuple[Path, Path]


class SharedTensors:
    """Questions about the variables of a function; each says yes where it may be."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._ties: dict[ast.AST, list[Tie]] = {}
        self._changes: dict[ast.AST, list[tuple[ast.AST, Path]]] = {}

    def is_changed_behind(self, node: ast.expr) -> bool:
        """Whether a tensor is changed in place further down: ``loss = part`` and ``loss += other``."""
        shared = frozenset(self._held(node, 0))
        return bool(shared) and self._is_changed(node, shared, 0)

    def _is_changed(self, at: ast.AST, shared: frozenset[Path], depth: int) -> bool:
        index, holder = self._index, self._holder(at)
        begin = index.span(at).start
        changes = [path for node, path in self.changes_in(holder, depth) if index.span(node).start > begin]
        every = self.sharing(shared, holder, depth) if changes or isinstance(holder, FUNCTIONS) else shared
        if meet(every, frozenset(changes)):
            return True
        # `def log(loss): meter.update(loss.item())`, whose caller divides the loss afterwards
        if depth >= _DEPTH or not isinstance(holder, FUNCTIONS):
            return False
        given = [item for name in parameters_of(holder) if (name,) in every
                 for item in index.definitions.arguments.of(holder, name)]  # fmt: skip
        return any(self._is_changed(item, frozenset(self._held(item, 0)), depth + 1) for item in given)

    def others(self, node: ast.expr) -> frozenset[Path]:
        """All that may hold the tensor of a variable, or the one that it holds."""
        holder = self._holder(node)
        return self.sharing(frozenset(self._held(node, 0)), holder, 0)

    def changes_in(self, holder: ast.AST, depth: int = 0) -> list[tuple[ast.AST, Path]]:
        """Where a function, or the top of the file, changes tensors in place, and what holds them."""
        if holder not in self._changes:
            self._changes[holder] = []  # recursion adds nothing
            self._changes[holder] = [
                (node, path) for node in self._index.tree.inside(holder, functions=False)
                for changed in self._changed_at(node, depth) for path in self._held(changed, depth)
            ]  # fmt: skip
        return self._changes[holder]

    def _changed_at(self, node: ast.AST, depth: int) -> Iterable[ast.expr]:
        if isinstance(node, ast.AugAssign):
            return () if isinstance(node.value, _DISPLAYS) else (node.target,)
        if isinstance(node, ast.Subscript):
            is_part = isinstance(node.ctx, ast.Store) and self._index.kind(node.value) is Kind.TENSOR
            return (node.value,) if is_part else ()
        if not isinstance(node, ast.Call):
            return ()
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in facts.IN_PLACE_METHODS:
            return (func.value,)
        called = definition_called(self._index, node) if node.args and depth < _DEPTH else None
        if called is None or not isinstance(called.node, FUNCTIONS):
            return ()
        theirs = called.file.shared_tensors
        changed = frozenset(path for _, path in theirs.changes_in(called.node, depth + 1))
        changed = theirs.sharing(changed, called.node, depth + 1) if changed else changed
        return _given(called, node, changed)

    # ---------------------------------------------------------------- what holds the same

    def _holder(self, node: ast.AST) -> ast.AST:
        return self._index.function_of(node) or self._index.tree.module

    def sharing(self, paths: frozenset[Path], holder: ast.AST, depth: int = 0) -> frozenset[Path]:
        """These variables of a function, and all that may hold the tensor of one."""
        found = set(paths)
        ties = self._ties_in(holder, depth)
        grows = True
        while grows:
            grows = False
            for one, other in ties:
                for here, there in ((one, other), (other, one)):
                    if there not in found and meet(frozenset({here}), frozenset(found)):
                        found.add(there)
                        grows = True
        return frozenset(found)

    def _ties_in(self, holder: ast.AST, depth: int) -> list[Tie]:
        if holder not in self._ties:
            self._ties[holder] = []  # recursion adds nothing
            self._ties[holder] = [
                (path + key, held)
                for node in self._index.tree.inside(holder, functions=False)
                for target, value in _given_in(node)
                for key, part in _entries(value)
                for held in self._held(part, depth)
                for path in self._held(target, depth)
                if path != held
            ]
        return self._ties[holder]

    def _held(self, node: ast.expr, depth: int) -> Iterator[Path]:
        """The variables whose tensors an expression is, views or holds; none where it computes another."""
        if isinstance(node, ast.Name):
            yield (node.id,)
        elif isinstance(node, ast.Attribute | ast.Subscript):
            base: ast.expr = node
            while isinstance(base, ast.Attribute | ast.Subscript):
                base = base.value
            is_view = isinstance(node, ast.Attribute) and node.attr in ("data", "T")
            if isinstance(base, ast.Name) and not is_view:
                yield path_of(node)
            else:
                yield from self._held(node.value, depth)
        elif isinstance(node, ast.Call):
            for part in self._handed_on(node, depth):
                yield from self._held(part, depth)
        else:
            for part in _parts(node):
                yield from self._held(part, depth)

    def _handed_on(self, call: ast.Call, depth: int) -> Iterable[ast.expr]:
        """What a call gives back of what it is given: ``loss.detach()``, ``list(losses)``, a parameter returned."""
        name = self._index.qualified_name(call.func)
        if name in _HANDING_ON:
            return call.args
        if isinstance(call.func, ast.Attribute) and name is None:
            method = call.func.attr
            if method in _VIEWS or method in _OF_COLLECTIONS or method in facts.IN_PLACE_METHODS:
                return (call.func.value, *call.args[1:])
        called = definition_called(self._index, call) if call.args and depth < _DEPTH else None
        if called is None or not isinstance(called.node, FUNCTIONS):
            return ()
        return _given(called, call, called.file.shared_tensors.returned(called, depth + 1))

    def returned(self, called: Definition, depth: int) -> frozenset[Path]:
        """Variables of a function of this file whose tensors it may return as they are."""
        function = called.node
        assert isinstance(function, FUNCTIONS)
        returned = self._index.definitions.returned_by(function)
        held = frozenset(path for value in returned for path in self._held(value, depth))
        return self.sharing(held, function, depth) if held else held


def _given_in(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is given a value, and the value: by an assignment, a loop, or a method of a list."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=False)
            else:
                yield target, node.value
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
        if node.value is not None:
            yield node.target, node.value
    elif isinstance(node, ast.For | ast.comprehension):
        yield node.target, node.iter
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PUTTING:
        for argument in node.args:
            yield node.func.value, argument


def _entries(value: ast.expr) -> list[tuple[Path, ast.expr]]:
    """The parts of a dict or list that is written out, each with its key in front; anything else is whole."""
    if isinstance(value, ast.Dict) and all(isinstance(key, ast.Constant) for key in value.keys):
        keys = [key.value for key in value.keys if isinstance(key, ast.Constant)]
        return [((repr(key),), part) for key, part in zip(keys, value.values, strict=True)]
    return [((), value)]


def _parts(node: ast.expr) -> Iterable[ast.expr]:
    """What is one of several, or put together."""
    if isinstance(node, ast.IfExp):
        return node.body, node.orelse
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return (node.elt,)
    if isinstance(node, ast.DictComp | ast.Starred | ast.NamedExpr):
        return (node.value,)
    return ()


def _given(called: Definition, call: ast.Call, paths: frozenset[Path]) -> list[ast.expr]:
    """What a call gives for those parameters that are among the paths, or hold one."""
    function = called.node
    assert isinstance(function, FUNCTIONS)
    names = {path[0] for path in paths}.intersection(parameters_of(function))
    arguments = called.file.definitions.arguments
    return [item for name in sorted(names) for item in arguments.of_call(call, function, name)]
