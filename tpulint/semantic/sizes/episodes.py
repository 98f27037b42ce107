"""Lists with one item for each move of a game, and so as long as the game happens to last."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.syntax.bindings import part_of
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, LoopNode
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.bindings import Binding

_DEPTH = 8
_CALLERS = 3
_KEEPING = frozenset({
    *(f"builtins.{name}" for name in ("list", "tuple", "reversed", "enumerate", "range", "len")),
    *(f"numpy.{name}" for name in ("array", "asarray", "stack", "vstack", "concatenate", "flip")),
    *(f"torch.{name}" for name in ("tensor", "as_tensor", "FloatTensor", "Tensor", "stack", "cat")),
})  # fmt: skip
"""Calls of one sequence that give one as long, or go as often through it."""
_EMPTY = frozenset({"builtins.list", "collections.deque"})
_GROWING = frozenset({"append", "insert", "appendleft"})
_FIRST_OF_ENDS = 2
"""Where among the things that a move of the game gives stands whether it is over."""


class Episodes:
    """Finds the loop that plays a game to its end."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self.loops: list[LoopNode] = [loop for loop in index.tree.loops if self._ends_with_game(loop)]

    def of(self, node: ast.expr, depth: int = 0) -> LoopNode | None:
        """The loop that plays the game whose moves a sequence has one item for each of; None for any other."""
        index = self._index
        if depth > _DEPTH or not self.loops:
            return None
        if isinstance(node, ast.Call):
            if index.qualified_name(node.func) == "builtins.zip":
                return self._first(node.args, depth)
            is_one = index.qualified_name(node.func) in _KEEPING and node.args
            return self.of(node.args[0], depth + 1) if is_one else None
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            ends = (node.slice.lower, node.slice.upper)
            return self.of(node.value, depth + 1) if ends == (None, None) else None
        if isinstance(node, ast.ListComp) and len(node.generators) == 1 and not node.generators[0].ifs:
            return self.of(node.generators[0].iter, depth + 1)
        if isinstance(node, ast.Name):
            found = [self._of_binding(node, binding, depth) for binding in index.flow.reaching(node)]
            return found[0] if found and all(loop is not None for loop in found) else None
        return self._kept(node) if isinstance(node, ast.Attribute) else None

    def _first(self, nodes: list[ast.expr], depth: int) -> LoopNode | None:
        return next((found for node in nodes if (found := self.of(node, depth + 1)) is not None), None)

    def _of_binding(self, name: ast.Name, binding: Binding, depth: int) -> LoopNode | None:
        index, value = self._index, binding.value
        if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
            return self._first(index.definitions.arguments.of(binding.statement, binding.name), depth)
        if binding.kind != "assign" or value is None:
            return None
        value = part_of(value, binding.path)  # `states, actions = [], []`
        if value is None or not self._is_empty(value):
            return None if value is None else self.of(value, depth + 1)
        for call in self._growths(name.id):
            holder = call.func.value if isinstance(call.func, ast.Attribute) else None
            if isinstance(holder, ast.Name) and binding in index.names.bindings(holder):
                found = self._filled_by(call, binding.node, depth)
                if found is not None:
                    return found
        return None

    def _filled_by(self, call: ast.Call, made: ast.AST, depth: int) -> LoopNode | None:
        """The game that a list is filled in, or for each move of which a loop fills it."""
        for loop in self._loops_around(call):
            if self._index.tree.encloses(loop, made):
                return None
            if loop in self.loops:
                return loop
            if isinstance(loop, ast.For):
                return self.of(loop.iter, depth + 1)
        return None

    def _kept(self, node: ast.Attribute) -> LoopNode | None:
        """The same of a list that an object keeps, and that is emptied now and then."""
        if not self._is_emptied(node.attr):
            return None
        for call in self._growths(node.attr):
            found = self._played_around(call, 0)
            if found is not None:
                return found
        return None

    def _played_around(self, node: ast.AST, depth: int) -> LoopNode | None:
        """The game during which code runs, in a function that its loop calls, too."""
        index = self._index
        around = next((loop for loop in self._loops_around(node) if loop in self.loops), None)
        function = index.function_of(node)
        if around is not None or function is None or depth > _CALLERS:
            return around
        calls = index.definitions.calls_of(function)
        return next((found for call in calls if (found := self._played_around(call, depth + 1)) is not None), None)

    def runs_in(self, node: ast.AST, loop: LoopNode, depth: int = 0) -> bool:
        """Whether the loop that plays a game runs code, so that the game is not over by then."""
        index = self._index
        if index.tree.encloses(loop, node):
            return True
        function = index.function_of(node)
        calls = index.definitions.calls_of(function) if function is not None and depth < _CALLERS else []
        return any(self.runs_in(call, loop, depth + 1) for call in calls)

    def _is_emptied(self, name: str) -> bool:
        index = self._index
        for node in index.tree.attributes_called(name):
            parent = index.parent(node)
            if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Del):
                return True
            if isinstance(parent, ast.Attribute) and parent.attr == "clear":
                return True
            function = index.function_of(node)
            if isinstance(node.ctx, ast.Store) and (function is None or function.name != "__init__"):
                statement = index.statement_of(node)
                if isinstance(statement, ast.Assign) and self._is_empty(statement.value):
                    return True
        return False

    def _is_empty(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            return self._index.qualified_name(node.func) in _EMPTY and not node.args
        return isinstance(node, ast.List) and not node.elts

    def _growths(self, name: str) -> Iterator[ast.Call]:
        """Calls that put one more item into a list of this name, be it a variable or an attribute."""
        for call, _ in self._index.method_calls(*_GROWING):
            if isinstance(call.func, ast.Attribute) and last_name(call.func.value) == name:
                yield call

    def _loops_around(self, node: ast.AST) -> Iterator[LoopNode]:
        for ancestor in self._index.tree.ancestors(node):
            if isinstance(ancestor, FUNCTIONS):
                return
            if isinstance(ancestor, LOOPS):
                yield ancestor

    def _ends_with_game(self, loop: LoopNode) -> bool:
        """``while not done``, ``if done: break``, where ``state, reward, done, _ = env.step(action)``."""
        ends = self._ends(loop)
        if not ends:
            return False
        if isinstance(loop, ast.While) and _mentions(loop.test, ends):
            return True
        return any(
            isinstance(node, ast.Break)
            and self._index.tree.loop_of(node) is loop
            and isinstance(test := self._index.parent(node), ast.If)
            and _mentions(test.test, ends)
            for node in self._index.tree.inside(loop, functions=False)
        )

    def _ends(self, loop: LoopNode) -> set[str]:
        """Variables that tell whether the game is over."""
        found: set[str] = set()
        for node in self._index.tree.inside(loop, functions=False):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1:
                continue
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Call) and _is_move(value):
                found |= {item.id for item in target.elts[_FIRST_OF_ENDS:] if isinstance(item, ast.Name)}
            elif isinstance(target, ast.Name) and isinstance(value, ast.BoolOp) and _mentions(value, found):
                found.add(target.id)
        return found


def _is_move(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "step" and len(call.args) == 1


def _mentions(node: ast.expr, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))
