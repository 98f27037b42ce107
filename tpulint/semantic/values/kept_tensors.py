"""Tensors that objects keep for who asks later: ``meter.avg`` behind ``meter.update(loss)``."""

from __future__ import annotations

import ast
from functools import cached_property

from tpulint.semantic.functions.definitions import Definitions, is_property
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.project.imported import Imported
from tpulint.semantic.project.other_files import method
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.value import LARGEST_DEPTH, UNKNOWN, Kind, Side, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.values.kinds import Kinds

_READING = frozenset({"item", "tolist", "cpu", "numpy"})
_NUMBERS = frozenset({"float", "int", "bool"})


class KeptTensors:
    """Asked by :class:`Kinds` for attributes of objects of which nothing else is known."""

    def __init__(
        self, kinds: Kinds, tree: SyntaxTree, names: Names, definitions: Definitions, imported: Imported
    ) -> None:
        self._kinds = kinds
        self._tree = tree
        self._names = names
        self._definitions = definitions
        self._imported = imported
        self._memo: dict[tuple[FunctionNode, frozenset[str]], frozenset[str]] = {}

    def value(self, node: ast.Attribute, depth: int) -> Value:
        """A tensor of the device, where a method of the object was given one and keeps it in this attribute."""
        calls = self._calls.get(self._object(node.value), ()) if depth < LARGEST_DEPTH - 3 else ()
        for call in calls:
            assert isinstance(call.func, ast.Attribute)
            if call.func.attr != node.attr and node.attr in self._kept_by(call, depth):
                return Value(Kind.TENSOR, Side.DEVICE, certain=False)
        return UNKNOWN

    def shown(self, call: ast.Call, depth: int) -> Value:
        """What a method gives that is asked for nothing but what the object keeps: ``meter.mean()``, ``meter()``."""
        if call.args or call.keywords or depth > LARGEST_DEPTH - 3:
            return UNKNOWN
        is_method = isinstance(call.func, ast.Attribute) and self._object(call.func) not in self._calls
        meter, name = (call.func.value, call.func.attr) if is_method else (call.func, "__call__")  # type: ignore[attr-defined]
        for keeping in self._calls.get(self._object(meter), ()):
            if f"{name}()" in self._kept_by(keeping, depth):
                return Value(Kind.TENSOR, Side.DEVICE, certain=False)
        return UNKNOWN

    @cached_property
    def _calls(self) -> dict[tuple[str, object] | None, list[ast.Call]]:
        """Calls of methods with arguments, by the object whose method it is."""
        found: dict[tuple[str, object] | None, list[ast.Call]] = {}
        for call in self._tree.calls:
            is_given = isinstance(call.func, ast.Attribute) and (call.args or call.keywords)
            if is_given and isinstance(self._tree.parents.get(call), ast.Expr):
                assert isinstance(call.func, ast.Attribute)
                found.setdefault(self._object(call.func.value), []).append(call)
        found.pop(None, None)
        return found

    def _object(self, node: ast.expr) -> tuple[str, object] | None:
        """What is the same for ``meter`` of one scope and for ``self.meter`` of one class; None for anything else."""
        if isinstance(node, ast.Name):
            found = self._names.find_name(node)
            return None if found is None else (node.id, found[0])
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return f"{node.value.id}.{node.attr}", self._tree.class_of(node)
        return None

    def _kept_by(self, call: ast.Call, depth: int) -> frozenset[str]:
        """Attributes in which a method keeps the tensors of the device that a call gives it."""
        given = [item for item in values_given(call) if self._is_on_device(item, depth + 2)]
        if not given:
            return frozenset()
        found: frozenset[str] = frozenset()
        for tree, function in self._methods(call):
            names = [item.arg for item in (*function.args.posonlyargs, *function.args.args)][1:]
            parameters = {name for name, item in zip(names, call.args, strict=False) if item in given}
            parameters |= {item.arg for item in call.keywords if item.arg is not None and item.value in given}
            key = function, frozenset(parameters)
            if key not in self._memo:
                self._memo[key] = _attributes_keeping(tree, *key)
            found |= self._memo[key]
        return found

    def _is_on_device(self, node: ast.expr, depth: int) -> bool:
        value = self._kinds.value(node, depth)
        return value.kind is Kind.TENSOR and value.side is Side.DEVICE

    def _methods(self, call: ast.Call) -> list[tuple[SyntaxTree, FunctionNode]]:
        func = call.func
        assert isinstance(func, ast.Attribute)
        if not isinstance(func.value, ast.Name | ast.Attribute):
            return []
        here = self._definitions.classes.one_of_variable(func.value)
        if here is not None:
            function = self._definitions.method(here, func.attr)
            return [] if function is None else [(self._tree, function)]
        found = (method(owner, func.attr) for owner in self._imported.classes_of(func.value))
        return [(item.file.tree, item.node) for item in found if item is not None and isinstance(item.node, FUNCTIONS)]


def _attributes_keeping(tree: SyntaxTree, function: FunctionNode, parameters: frozenset[str]) -> frozenset[str]:
    """Attributes that a method computes of these parameters and reads nothing of, and properties that show them."""
    owner = tree.class_of(function)
    nodes = list(tree.inside(function, functions=False))
    if owner is None or not function.args.args or any(isinstance(node, ast.Call) and _reads(node) for node in nodes):
        return frozenset()
    held = Held(function.args.args[0].arg, set(parameters))
    size = -1
    while size != len(held.attributes) + len(held.variables):
        size = len(held.attributes) + len(held.variables)
        for node in nodes:
            if isinstance(node, ast.Assign | ast.AugAssign) and held.in_(node.value):
                for target in node.targets if isinstance(node, ast.Assign) else (node.target,):
                    held.keep(target)
    shown = [item for item in owner.body if isinstance(item, ast.FunctionDef) and len(item.args.args) == 1]
    for item in shown:
        own = Held(item.args.args[0].arg, set(), held.attributes)
        inside = list(tree.inside(item, functions=False))
        if any(isinstance(node, ast.Call) and own.is_read_by(node) for node in inside):
            continue
        if any(isinstance(node, ast.Return) and node.value and own.in_(node.value) for node in inside):
            held.attributes.add(item.name if is_property(item) else f"{item.name}()")
    return frozenset(held.attributes)


class Held:
    """What holds a tensor in a method, as far as it is known."""

    def __init__(self, own: str, variables: set[str], attributes: set[str] | None = None) -> None:
        self._own = own
        self.variables = variables
        self.attributes: set[str] = set() if attributes is None else attributes

    def keep(self, target: ast.expr) -> None:
        """What gets such a value holds it, too."""
        if isinstance(target, ast.Name):
            self.variables.add(target.id)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == self._own:
            self.attributes.add(target.attr)

    def is_read_by(self, call: ast.Call) -> bool:
        """Whether a call makes a number of what is held, or copies it to the host."""
        if isinstance(call.func, ast.Attribute):
            return call.func.attr in _READING and self.in_(call.func.value)
        return isinstance(call.func, ast.Name) and call.func.id in _NUMBERS and any(map(self.in_, call.args))

    def in_(self, node: ast.expr) -> bool:
        """Whether an expression is a tensor: arithmetic with one, or a method of one that gives another."""
        if isinstance(node, ast.Name):
            return node.id in self.variables
        if isinstance(node, ast.Attribute):
            is_own = isinstance(node.value, ast.Name) and node.value.id == self._own
            return node.attr in self.attributes if is_own else node.attr == "data" and self.in_(node.value)
        if isinstance(node, ast.BinOp):
            is_text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
            return not is_text and (self.in_(node.left) or self.in_(node.right))
        if isinstance(node, ast.UnaryOp):
            return not isinstance(node.op, ast.Not) and self.in_(node.operand)
        if isinstance(node, ast.IfExp):
            return self.in_(node.body) or self.in_(node.orelse)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return node.func.attr in facts.TENSOR_METHODS and self.in_(node.func.value)
        return False


def _reads(call: ast.Call) -> bool:
    """Whether a call makes a number of a tensor, or copies it to the host."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in _READING
    return isinstance(call.func, ast.Name) and call.func.id in _NUMBERS
