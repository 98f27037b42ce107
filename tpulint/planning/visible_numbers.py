"""Whole numbers that can be read off a script: constants, defaults of options, fields of configurations.

Nothing is executed. What may be one of several numbers is unknown.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from tpulint.semantic import Binding, FunctionNode, SemanticIndex
from tpulint.semantic.values.origins import origins

_DEPTH = 24
"""Names that are followed through one after another."""
_LARGEST = 10**15


class Visible(NamedTuple):
    """A number and where it is written."""

    value: int
    row: int
    by_user: bool = False
    """Whether it is the default of an option, so that the command line can change it."""


class Frame(NamedTuple):
    """A call of a function of the script: what its parameters are given."""

    function: FunctionNode
    given: dict[str, Closure]


class Closure(NamedTuple):
    """An expression, with the call in which its names are to be looked up; None for the module's own."""

    node: ast.expr
    frame: Frame | None


class VisibleNumbers:
    """Reads numbers of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def of(self, node: ast.expr, frame: Frame | None = None) -> Visible | None:
        """The number that an expression has, when it can be seen."""
        return self._number(Closure(node, frame), 0)

    def flag(self, node: ast.expr, frame: Frame | None) -> bool | None:
        """Whether an expression is true, when it can be seen."""
        settled = self.settle(Closure(node, frame))
        value = settled.node.value if settled is not None and isinstance(settled.node, ast.Constant) else ...
        return bool(value) if value is None or isinstance(value, bool | int) else None

    def settle(self, closure: Closure, depth: int = 0) -> Closure | None:
        """The expression behind a name or an attribute; None when it may be one of several."""
        found = self._behind(closure, depth)
        if found is None or depth > _DEPTH:
            return None
        return closure if found == [closure] else self.settle(found[0], depth + 1) if len(found) == 1 else None

    def bind(self, function: FunctionNode, call: ast.Call, frame: Frame | None) -> Frame | None:
        """The frame of a call; None where arguments are hidden by ``*`` or ``**``."""
        if any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords):
            return None
        arguments = function.args
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        is_bound = names[:1] in (["self"], ["cls"])
        given = {name: Closure(value, None) for name, value in _defaults(arguments)}
        given.update((name, Closure(value, frame)) for name, value in zip(names[is_bound:], call.args, strict=False))
        given.update((item.arg, Closure(item.value, frame)) for item in call.keywords if item.arg is not None)
        return Frame(function, given)

    # ---------------------------------------------------------------- numbers

    def _number(self, closure: Closure, depth: int) -> Visible | None:
        node, frame = closure
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Constant):
            value = node.value
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            is_number = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST
            return Visible(value, node.lineno) if is_number and isinstance(value, int) else None
        if isinstance(node, ast.BinOp):
            left = self._number(Closure(node.left, frame), depth + 1)
            right = self._number(Closure(node.right, frame), depth + 1)
            value = None if left is None or right is None else _computed(node.op, left.value, right.value)
            if value is None or left is None or right is None:
                return None
            return Visible(value, left.row, left.by_user or right.by_user)
        if (
            isinstance(node, ast.Call)
            and self._index.qualified_name(node.func) == "builtins.int"
            and len(node.args) == 1
        ):
            return self._number(Closure(node.args[0], frame), depth + 1)
        found = self._behind(closure, depth)
        if not found or found == [closure]:
            return self._default(node, depth)
        numbers = [self._number(one, depth + 1) for one in found]
        first = numbers[0]
        return first if first is not None and all(one and one.value == first.value for one in numbers) else None

    def _default(self, node: ast.expr, depth: int) -> Visible | None:
        """The default of the option of the command line that an attribute is; or what all calls of a function give."""
        found = origins(self._index, node) if isinstance(node, ast.Attribute | ast.Name) else []
        if not found or any(one.node is node for one in found):
            return None
        numbers = [(self._number(Closure(one.node, None), depth + 1), one.by_user) for one in found]
        values = {number.value if number is not None else None for number, _ in numbers}
        first, by_user = numbers[0]
        if first is None or len(values) != 1:
            return None
        if by_user and any(True for _ in self._index.method_calls("set_defaults")):
            return None
        return first._replace(by_user=first.by_user or by_user)

    # ---------------------------------------------------------------- names

    def _behind(self, closure: Closure, depth: int) -> list[Closure] | None:
        """What a name or an attribute may stand for; itself where it is neither. None when that is not known."""
        node = closure.node
        if isinstance(node, ast.Name):
            found = [self._bound(one, closure.frame) for one in self._index.flow.reaching(node)]
            return [one for one in found if one is not None] if found and all(found) else None
        if isinstance(node, ast.Attribute):
            return self._attribute(node, closure.frame, depth)
        return [closure]

    def _bound(self, binding: Binding, frame: Frame | None) -> Closure | None:
        if binding.kind == "parameter":
            own = frame is not None and binding.statement is frame.function
            return frame.given.get(binding.name) if own and frame is not None else None
        if binding.kind != "assign" or binding.value is None:
            return None
        value = binding.value
        for at in binding.path:
            if not isinstance(value, ast.Tuple | ast.List) or not 0 <= at < len(value.elts):
                return None
            value = value.elts[at]
        return Closure(value, self._frame_of(value, frame))

    def _frame_of(self, node: ast.expr, frame: Frame | None) -> Frame | None:
        return frame if frame is not None and self._index.function_of(node) is frame.function else None

    def _attribute(self, node: ast.Attribute, frame: Frame | None, depth: int) -> list[Closure] | None:
        index, holder = self._index, node.value
        if isinstance(holder, ast.Name) and frame is not None and self._is_self(holder, frame.function):
            owner = index.tree.class_of(frame.function)
            bindings = index.names.attribute_bindings(owner, node.attr) if owner is not None else ()
            found = [self._bound(one, frame) for one in bindings]
            return [one for one in found if one is not None] if found and all(found) else None
        if isinstance(holder, ast.Name) and len(bound := index.names.bindings(holder)) == 1:
            of_class = bound[0].node
            if isinstance(of_class, ast.ClassDef):
                value = field_default(of_class, node.attr)
                return [Closure(value, None)] if value is not None else None
        if index.flow.reaching_attribute(node):
            return None  # it is changed somewhere
        made = self.settle(Closure(holder, frame), depth + 1) if isinstance(holder, ast.Name | ast.Attribute) else None
        if made is None or not isinstance(made.node, ast.Call):
            return None
        return self._field(made.node, node.attr, made.frame)

    def _is_self(self, name: ast.Name, function: FunctionNode) -> bool:
        arguments = function.args.args
        return bool(arguments) and arguments[0].arg == name.id == "self"

    def _field(self, call: ast.Call, name: str, frame: Frame | None) -> list[Closure] | None:
        """A field of an object that a call makes: what it is given, else its default."""
        if any(item.arg is None for item in call.keywords) or any(isinstance(one, ast.Starred) for one in call.args):
            return None
        given = next((item.value for item in call.keywords if item.arg == name), None)
        owner = self._index.definitions.class_called(call)
        if owner is None:
            return [Closure(given, frame)] if given is not None else None
        function = self._index.definitions.method(owner, "__init__")
        if function is not None:
            inner = self.bind(function, call, frame)
            found = [self._bound(one, inner) for one in self._index.names.attribute_bindings(owner, name)]
            return [one for one in found if one is not None] if found and all(found) else None
        fields = [
            item.target.id
            for item in owner.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        ]
        if given is None and name in fields[: len(call.args)]:
            given = call.args[fields.index(name)]
        if given is not None:
            return [Closure(given, frame)]
        value = field_default(owner, name)
        return [Closure(value, None)] if value is not None else None


def field_default(owner: ast.ClassDef, name: str) -> ast.expr | None:
    """What a class gives a field in its body; None when it gives nothing, or several things."""
    found = [value for known, value in fields_of(owner) if known == name]
    return found[0] if len(found) == 1 else None


def fields_of(owner: ast.ClassDef) -> list[tuple[str, ast.expr]]:
    """Names in the body of a class, with their values."""
    found = []
    for item in owner.body:
        targets = (
            [item.target] if isinstance(item, ast.AnnAssign) else item.targets if isinstance(item, ast.Assign) else []
        )
        value = item.value if isinstance(item, ast.AnnAssign | ast.Assign) else None
        if value is not None:
            found += [(target.id, value) for target in targets if isinstance(target, ast.Name)]
    return found


def _defaults(arguments: ast.arguments) -> list[tuple[str, ast.expr]]:
    by_position = [*arguments.posonlyargs, *arguments.args]
    given = by_position[len(by_position) - len(arguments.defaults) :]
    found = [(one.arg, value) for one, value in zip(given, arguments.defaults, strict=True)]
    by_name = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [*found, *((one.arg, value) for one, value in by_name if value is not None)]


def _computed(operator: ast.operator, left: int, right: int) -> int | None:
    value: int | None = None
    if isinstance(operator, ast.Add):
        value = left + right
    elif isinstance(operator, ast.Sub):
        value = left - right
    elif isinstance(operator, ast.Mult):
        value = left * right
    elif isinstance(operator, ast.Pow) and 0 <= right < 64:
        value = left**right
    elif isinstance(operator, ast.FloorDiv | ast.Div) and right:
        value = left // right if isinstance(operator, ast.FloorDiv) or left % right == 0 else None
    return value if value is not None and abs(value) <= _LARGEST else None
