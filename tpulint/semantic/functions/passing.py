"""Functions that give back what they are given, changed: ``def mean_over_ranks(x): return x.clone() / n``."""

from __future__ import annotations

import ast

from tpulint.semantic.devices.device_sites import devices_given
from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.value import Path, is_none

_DEPTH = 8
_COLLECTING = frozenset({"builtins.list", "builtins.tuple", "builtins.dict", "builtins.map"})
_ITSELF = "()"
"""What a function gives back that calls itself."""
_NO_TENSOR = ast.Is | ast.IsNot | ast.In | ast.NotIn
"""Comparisons that give a truth value of Python, whatever is compared."""
_GIVING_THE_SAME = facts.VARIABLES | {"numpy.copy"}
"""Functions that give what they are given: an array, where the other way of the function has a tensor."""
_HOST = frozenset({"cpu", "numpy", "item", "tolist"})
_CALCULATING = ("torch.", "math.", "builtins.")
_METHODS = frozenset({
    *facts.TENSOR_METHODS, *facts.TENSOR_ONLY_METHODS, *facts.IN_PLACE_METHODS, *facts.TENSOR_HOST_METHODS,
})  # fmt: skip


class Passing:
    """Answers about the functions of one file."""

    def __init__(self, tree: SyntaxTree, names: Names, flow: Flow, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._choices: dict[FunctionNode, frozenset[str]] = {}
        self._moving: dict[FunctionNode, bool] = {}
        self._moved: dict[tuple[FunctionNode, Path], str | None] = {}
        self._giving: dict[FunctionNode, bool] = {}

    def parameter(self, function: FunctionNode, path: Path = ()) -> str | None:
        """The parameter that what a function returns is made of by methods of tensors; None for anything else.

        Of several values that it returns together the one at a path.
        """
        returned = self._definitions.returned_by(function)
        if path and not all(isinstance(value, ast.Tuple) for value in returned):
            return None
        parts = [part for part in (_part(value, path) for value in returned) if not _is_number(part)]
        found = {self._root(part, 0) for part in parts}
        return found.pop() if len(found) == 1 else None

    def gives_moved(self, function: FunctionNode) -> bool:
        """Whether all that a function gives has been moved: one tensor or several, as the batch has them."""
        if function not in self._giving:
            self._giving[function] = False  # `return [move(part) for part in batch]`
            given = [value for value in self._definitions.returned_by(function) if not is_none(value)]
            self._giving[function] = bool(given) and all(self._holds_move(value, 0) for value in given)
        return self._giving[function]

    def _holds_move(self, node: ast.expr, depth: int) -> bool:
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Tuple | ast.List):
            return any(self._holds_move(item, depth + 1) for item in node.elts)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            return self._holds_move(node.elt, depth + 1)
        if isinstance(node, ast.DictComp):
            return self._holds_move(node.value, depth + 1)
        if isinstance(node, ast.Name):
            bound = [b.value if b.kind == "assign" and not b.path else None for b in self._flow.reaching(node)]
            return bool(bound) and all(value is not None and self._holds_move(value, depth + 1) for value in bound)
        if not isinstance(node, ast.Call):
            return False
        is_collected = self._names.qualified(node.func) in _COLLECTING and len(node.args) == 1
        return self._holds_move(node.args[0], depth + 1) if is_collected else self._is_move(node)

    def is_beside_others(self, function: FunctionNode) -> bool:
        """Whether a function calculates its parameter with something else: of ``share * criterion(x, y)`` says the
        share nothing that is a number of the host."""
        return any(self._calculates(value, 0) for value in self._definitions.returned_by(function))

    def _calculates(self, node: ast.expr, depth: int) -> bool:
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Name):
            bound = (b.value for b in self._flow.reaching(node) if b.kind == "assign" and not b.path)
            return any(value is not None and self._calculates(value, depth + 1) for value in bound)
        if isinstance(node, ast.BinOp):
            sides = [side for side in (node.left, node.right) if not _is_number(side)]
            return len({self._root(side, depth + 1) for side in sides}) > 1 or any(
                self._calculates(side, depth + 1) for side in sides
            )
        if isinstance(node, ast.UnaryOp):
            return self._calculates(node.operand, depth + 1)
        is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        return is_method and self._calculates(node.func.value, depth + 1)  # type: ignore[attr-defined]

    def moved(self, function: FunctionNode, path: Path = ()) -> str | None:
        """The parameter that a function hands back on a device, whole or in parts: ``[x.to(device) for x in batch]``.

        Of several values that it returns together the one at a path.
        """
        key = function, path
        if key not in self._moved:
            self._moved[key] = None  # `return [move(part) for part in batch]`
            parts = [_part(value, path) for value in self._definitions.returned_by(function)]
            moves = [call for call in self._tree.nodes_in(function, ast.Call) if self._is_move(call)] if parts else []
            found = {self._handed_back(part, function, 0) for part in parts} - {_ITSELF} if moves else set()
            parameter = found.pop() if len(found) == 1 else None
            if parameter is not None and any(self._is_of(move.func, parameter) for move in moves):
                self._moved[key] = parameter
        return self._moved[key]

    def _is_of(self, node: ast.expr, parameter: str) -> bool:
        """Whether a method is one of a parameter, or of a part of it that a loop goes through."""
        receiver = node.value if isinstance(node, ast.Attribute) else node
        if self._root(receiver, 0) == parameter:
            return True
        while isinstance(receiver, ast.Subscript | ast.Attribute):
            receiver = receiver.value
        sources = []
        for binding in self._flow.reaching(receiver) if isinstance(receiver, ast.Name) else ():
            if binding.kind == "loop" and binding.value is not None:
                sources.append(binding.value)
            elif isinstance(binding.statement, ast.Lambda):
                mapping = self._tree.parents[binding.statement]
                sources += mapping.args if isinstance(mapping, ast.Call) else []
        return any(
            isinstance(part, ast.Name) and self._root(part, 0) == parameter
            for source in sources
            for part in (source, *self._tree.inside(source))
        )

    def _is_move(self, call: ast.Call) -> bool:
        """``x.cuda()``, ``x.to(device)``; not ``x.to(torch.float32)``."""
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr not in facts.MOVES:
            return False
        given = devices_given(call)
        if func.attr != "to":
            return True
        return any(
            not (isinstance(item, ast.Constant) and item.value == "cpu")
            and not (self._names.qualified(item) or "").startswith("torch.")
            and "dtype" not in last_name(item)
            for item in given
        )

    def _handed_back(self, value: ast.expr, function: FunctionNode, depth: int) -> str | None:
        """The parameter that a value is, or has the parts of; that the function calls itself says nothing."""
        if depth > _DEPTH:
            return None
        if isinstance(value, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            source = value.generators[0].iter
            if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and not source.args:
                source = source.func.value  # `batch.items()`
            return self._root(source, depth)
        if isinstance(value, ast.Call):
            name = self._names.qualified(value.func) or ""
            if self._definitions.function_called(value) is function:
                return _ITSELF
            if name in _COLLECTING and value.args:
                found = {self._handed_back(item, function, depth + 1) for item in value.args} - {None}
                return found.pop() if len(found) == 1 else None
        return self._root(value, depth)

    def choice(self, function: FunctionNode) -> frozenset[str]:
        """The parameters one of which a function hands back as it is: ``return x if x is not None else other``."""
        if function not in self._choices:
            returned = () if self._tree.class_of(function) else self._definitions.returned_by(function)
            found = {name for value in returned for name in self._picked(value)}
            self._choices[function] = frozenset() if None in found else frozenset(name for name in found if name)
        return self._choices[function]

    def _picked(self, node: ast.expr) -> list[str | None]:
        if isinstance(node, ast.IfExp):
            return [*self._picked(node.body), *self._picked(node.orelse)]
        if isinstance(node, ast.BoolOp):
            return [name for item in node.values for name in self._picked(item)]
        if isinstance(node, ast.Call) and not node.args and not node.keywords:
            node = node.func  # `other() if isfunction(other) else other`
        bindings = self._flow.reaching(node) if isinstance(node, ast.Name) else ()
        dealt = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "loop" else None
        if isinstance(dealt, ast.Name) and not bindings[0].path:  # `def first(*args): for arg in args: return arg`
            return [dealt.id if all(one.kind == "variadic" for one in self._flow.reaching(dealt)) else None]
        own = bool(bindings) and all(binding.kind == "parameter" for binding in bindings)
        return [node.id if own and isinstance(node, ast.Name) else None]

    def stays(self, function: FunctionNode) -> bool:
        """Whether a function neither moves tensors to the host nor makes any there."""
        for node in self._tree.inside(function, functions=False):
            if isinstance(node, ast.Attribute) and node.attr in _HOST:
                return False
            if isinstance(node, ast.Constant) and node.value == "cpu":
                return False
            if isinstance(node, ast.Call):
                head, _, last = (self._names.qualified(node.func) or "").rpartition(".")
                if (head == "torch" and last in facts.TORCH_FACTORIES) or head.startswith("numpy"):
                    return False
        return True

    def moves_nothing(self, function: FunctionNode) -> bool:
        """Whether the tensors of a function, no method, lie where those given to it do: it moves and makes none.

        It calls functions of torch and methods of tensors alone: a model, or another function, may move what it gets.
        """
        if function not in self._moving:
            nodes = self._tree.inside(function, functions=False)
            moves = not self.stays(function) or any(
                (isinstance(node, ast.Attribute) and (node.attr in facts.MOVES or node.attr == "device"))
                or (isinstance(node, ast.Call) and not self._only_calculates(node.func))
                for node in nodes
            )
            self._moving[function] = moves or self._tree.class_of(function) is not None
        return not self._moving[function]

    def _only_calculates(self, func: ast.expr) -> bool:
        name = self._names.qualified(func)
        if name is not None:
            return name.startswith(_CALCULATING)
        return isinstance(func, ast.Attribute) and func.attr in _METHODS

    def _root(self, node: ast.expr, depth: int) -> str | None:
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Name):
            return self._bound(node, depth)
        if isinstance(node, ast.BinOp):
            return self._root(node.left, depth + 1) or self._root(node.right, depth + 1)
        if isinstance(node, ast.UnaryOp):
            return self._root(node.operand, depth + 1)
        if isinstance(node, ast.Compare) and all(isinstance(one, ast.Constant) for one in node.comparators):
            return None if isinstance(node.ops[0], _NO_TENSOR) else self._root(node.left, depth + 1)  # `labels > 0`
        if isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr == "data"):
            return self._root(node.value, depth + 1)
        if isinstance(node, ast.IfExp):  # `x.clone() if torch.is_tensor(x) else np.copy(x)`, `x * 2 if n else 0.0`
            found = {self._root(way, depth + 1) for way in (node.body, node.orelse) if not _is_number(way)}
            return found.pop() if len(found) == 1 else None
        func = node.func if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and node.args and self._names.qualified(node.func) in _GIVING_THE_SAME:
            return self._root(node.args[0], depth + 1)
        if not isinstance(func, ast.Attribute) or func.attr not in facts.TENSOR_METHODS | facts.MOVES:
            return None
        return self._root(func.value, depth + 1) if self._names.qualified(func) is None else None

    def _bound(self, name: ast.Name, depth: int) -> str | None:
        found: set[str | None] = set()
        for binding in self._flow.reaching(name):
            if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
                found.add(binding.name)
            elif binding.kind == "assign" and binding.value is not None and not binding.path:
                found.add(self._root(binding.value, depth + 1))
            elif binding.kind != "augment":  # `x /= n` changes what is there
                found.add(None)
        return found.pop() if len(found) == 1 else None


def _is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float)


def _part(value: ast.expr, path: Path) -> ast.expr:
    """What stands at a path in values that are returned together; anything else is whole."""
    at = path[0] if path else None
    if isinstance(value, ast.Tuple) and isinstance(at, int) and -len(value.elts) <= at < len(value.elts):
        return _part(value.elts[at], path[1:])
    return value
