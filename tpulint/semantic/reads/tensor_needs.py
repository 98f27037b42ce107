"""What needs a tensor where a number would stand in for it: ``share = right / count``, ``share.item()``."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.records import NamedTuple
from tpulint.semantic.project.other_files import definition_called
from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_NUMERIC = ("builtins.", "math.", "numpy.")
"""Beginnings of the names of functions that take numbers as well as tensors."""
_DEPTH = 12
"""Variables and callers that a value is followed through."""


class _Caller(NamedTuple):
    """A call of a function, in the file that makes it."""

    file: SemanticIndex
    call: ast.Call
    is_certain: bool
    """Whether it is known which function that is; else it has the name of the method."""


class TensorNeeds:
    """Answers about one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def may_follow(self, use: ast.Name) -> bool:
        """Whether a use asks for what tensors have, or hands its value to code that is not seen and may do so."""
        index, parent = self._index, self._index.parent(use)
        if isinstance(parent, ast.Call) and parent.func is not use:
            name = index.qualified_name(parent.func) or ("" if isinstance(parent.func, ast.Name) else _NUMERIC[0])
            return not name.startswith(_NUMERIC) and not index.reads.is_output(parent)
        function = index.function_of(use) if isinstance(parent, ast.Return) else None
        if function is not None and not any(one.is_certain or _is_used(one) for one in self.callers(function)):
            return True
        return self.follow(use)

    def follow(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether something is seen to ask a value, or what is computed of it, for what tensors have."""
        index, parent = self._index, self._index.parent(node)
        if depth > _DEPTH:
            return False
        if isinstance(parent, ast.Attribute):
            return True
        if isinstance(parent, ast.UnaryOp) or (isinstance(parent, ast.BinOp) and not index.reads.is_text(parent)):
            return self.follow(parent, depth + 1)
        if isinstance(parent, ast.Assign | ast.AugAssign):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            return any(self._follow_variable(target, depth) for target in targets)
        if isinstance(parent, ast.Tuple):
            outer = index.parent(parent)
            place = parent.elts.index(node)
            return isinstance(outer, ast.Return) and self._follow_callers(outer, place, depth)
        return isinstance(parent, ast.Return) and self._follow_callers(parent, None, depth)

    def _follow_variable(self, target: ast.expr, depth: int) -> bool:
        """Whether a variable is asked for it, where it has what is given to it there."""
        index = self._index
        binding = index.names.binding_at(target) if isinstance(target, ast.Name) else None
        if binding is None or not isinstance(target, ast.Name):
            return False
        uses = index.names.loads(target.id, binding.scope)
        return any(self.follow(use, depth + 1) for use in uses if binding in index.flow.reaching(use))

    def _follow_callers(self, statement: ast.Return, place: int | None, depth: int) -> bool:
        """Whether a caller asks what a function returns for it, or a part of that."""
        function = self._index.function_of(statement)
        callers = [] if function is None else self.callers(function)
        return any(one.file.tensor_needs.follow_result(one.call, place, depth + 1) for one in callers)

    def follow_result(self, call: ast.Call, place: int | None, depth: int) -> bool:
        """Whether something asks the result of a call, or a part of that, for what tensors have."""
        if place is None:
            return self.follow(call, depth)
        parent = self._index.parent(call)
        if isinstance(parent, ast.Subscript):
            at = parent.slice.value if isinstance(parent.slice, ast.Constant) else None
            return at == place and self.follow(parent, depth)
        targets = parent.targets if isinstance(parent, ast.Assign) else []
        parts = [target.elts for target in targets if isinstance(target, ast.Tuple | ast.List)]
        return any(self._follow_variable(part[place], depth) for part in parts if place < len(part))

    def callers(self, function: FunctionNode) -> list[_Caller]:
        """The calls of a function in this file, and those in other files of the project."""
        here = [_Caller(self._index, call, True) for call in self._index.definitions.calls_of(function)]
        return [*here, *self._callers_elsewhere(function)]

    def _callers_elsewhere(self, function: FunctionNode) -> Iterator[_Caller]:
        index = self._index
        path, name = os.path.abspath(index.source.path), qualified_in_file(index.tree, function)
        is_method = index.tree.class_of(function) is not None
        files = index.imported.mentioning(function.name) or ()
        for file in (one for one in files if os.path.abspath(one.source.path) != path):
            for call in file.calls:
                if last_name(call.func) != function.name:
                    continue
                run = definition_called(file, call)
                if run is None and is_method and isinstance(call.func, ast.Attribute):
                    yield _Caller(file, call, False)
                elif run is not None and isinstance(run.node, FUNCTIONS):
                    place = os.path.abspath(run.file.source.path), qualified_in_file(run.file.tree, run.node)
                    if place == (path, name):
                        yield _Caller(file, call, True)


def _is_used(caller: _Caller) -> bool:
    return not isinstance(caller.file.parent(caller.call), ast.Expr)
