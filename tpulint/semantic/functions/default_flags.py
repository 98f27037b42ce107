"""Branches that never run: of a flag that no call sets, ``if verbose:``, for the host, for export, for errors."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence

from tpulint.semantic.cuda.guards import asks_for_apple, asks_for_host
from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.passed_arguments import CALLS_LOOKED_AT
from tpulint.semantic.project.outside import OutsideCall, qualified_in_file
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import EXITS, FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HARMLESS = ("builtins.", "torch.", "typing.", "abc.")
"""Beginnings of decorators that give a function nothing: ``staticmethod``, ``torch.no_grad``."""
_OF_LIBRARIES = ("torch.", "numpy.", "builtins.")
"""Beginnings of functions that are none of the project."""
_OPEN_TO_ALL = ("fire.Fire", "builtins.globals")
"""What takes any function of the file by its name, where it is given none."""
_EXPORTING = frozenset({"torch.jit.is_scripting", "torch.jit.is_tracing", "torch.onnx.is_in_onnx_export"})
"""What is true while a model is made ready for use without Python, and never while it learns."""
_FAILURES = ("RuntimeError", "OutOfMemoryError", "Exception")
"""What is caught where something went wrong; code also goes another way by an ``AttributeError`` or ``ImportError``."""
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


class Branches:
    """Branches of one file that never run, where some names stand for constants: which, each kind of branch knows."""

    def __init__(self, tree: SyntaxTree, names: Names) -> None:
        self._tree = tree
        self._names = names

    def leave_out(self, node: ast.AST, within: ast.AST | None = None) -> bool:
        """Whether a node stands in a branch that never runs; only branches within a loop or function count.

        What runs where something has failed is such a branch; and what stands behind one that is always taken and
        leaves, ``if train: return loss``, never runs either.
        """
        child = node
        for ancestor in self._tree.ancestors(node):
            if isinstance(child, ast.stmt) and self._is_left_above(child):
                return True
            if ancestor is within or isinstance(ancestor, FUNCTIONS):
                return False
            if isinstance(ancestor, ast.If | ast.IfExp) and self.rule_out(ancestor, child):
                return True
            if isinstance(ancestor, ast.BoolOp) and child is not ancestor.values[0] and self._is_answered(ancestor):
                return True
            if isinstance(ancestor, ast.ExceptHandler) and catches_failure(self._tree, ancestor):
                return True
            child = ancestor
        return False

    def _is_answered(self, either: ast.BoolOp) -> bool:
        """Whether the first part of an ``or`` always holds, or that of an ``and`` never: ``size or x.max().item()``."""
        return self._answer(either.values[0]) is isinstance(either.op, ast.Or)

    def rule_out(self, branch: ast.If | ast.IfExp, child: ast.AST) -> bool:
        """Whether the side of a branch which a child of it belongs to never runs."""
        answer = None if child is branch.test else self._answer(branch.test)
        if answer is None:
            return False
        in_body = self._tree.in_body(branch, child) if isinstance(branch, ast.If) else child is branch.body
        return answer is not in_body

    def _is_left_above(self, statement: ast.stmt) -> bool:
        """Whether a branch above a statement of its block leaves the block every time."""
        suite = self._tree.suite_of(statement)
        for branch in suite[: self._tree.position_of(statement)]:
            if isinstance(branch, ast.If) and (answer := self._answer(branch.test)) is not None:
                taken = branch.body if answer else branch.orelse
                if taken and isinstance(taken[-1], EXITS):
                    return True
        return False

    def _constant(self, name: ast.Name) -> tuple[object] | None:
        """What a name always stands for; None where that is not known."""
        return None

    def _answer(self, test: ast.expr) -> bool | None:
        """What a condition always answers; None where that is not known."""
        if isinstance(test, ast.Constant):
            return bool(test.value)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            answer = self._answer(test.operand)
            return None if answer is None else not answer
        if isinstance(test, ast.BoolOp):
            answers = [self._answer(value) for value in test.values]
            decides = isinstance(test.op, ast.Or)
            return decides if decides in answers else None if None in answers else not decides
        if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and len(test.ops) == 1:
            held, other = self._constant(test.left), literal(test.comparators[0])
            compare = _COMPARISONS.get(type(test.ops[0]))
            if held is None or other is None or compare is None:
                return None
            are_numbers = isinstance(held[0], int | float) and isinstance(other[0], int | float)
            return None if isinstance(test.ops[0], _ORDERED) and not are_numbers else bool(compare(held[0], other[0]))
        if isinstance(test, ast.Call):
            return False if self._names.qualified(test.func) in _EXPORTING else None
        held = self._constant(test) if isinstance(test, ast.Name) else None
        return None if held is None else bool(held[0])


class DefaultFlags(Branches):
    """Of the functions of one file that are called in it, or by others; and branches for the host."""

    def __init__(
        self, tree: SyntaxTree, names: Names, definitions: Definitions, outside: Sequence[OutsideCall]
    ) -> None:
        super().__init__(tree, names)
        self._definitions = definitions
        self._outside = outside
        self._left: dict[tuple[FunctionNode, str], bool] = {}
        self._given: dict[tuple[FunctionNode, str], tuple[object] | None] = {}

    def _answer(self, test: ast.expr) -> bool | None:
        """What a test answers because all calls leave a flag at its default, or nothing is on the host."""
        if (asks_for_host(test) and not self._is_dealt(test)) or asks_for_apple(self._names, test):
            return False
        return super()._answer(test)

    def _is_dealt(self, test: ast.expr) -> bool:
        """Whether a test asks a variable of a loop: what a loader deals out is on the host."""
        nodes = (node for node in ast.walk(test) if isinstance(node, ast.Name))
        return any(binding.kind == "loop" for node in nodes for binding in self._names.bindings(node))

    def _constant(self, name: ast.Name) -> tuple[object] | None:
        """The default of a parameter that is bound once, and left at it by all calls that are known.

        Or what all of them give: ``model.run(x, train=True)``. ``size = size or x.max()`` asks what was given.
        """
        bindings = self._names.bindings(name)
        if len(bindings) > 1:
            bindings = [one for one in bindings if one.kind != "assign" or not self._tree.encloses(one.statement, name)]
        bound = bindings[0] if len(bindings) == 1 else None
        if bound is None or bound.kind != "parameter" or not isinstance(function := bound.statement, FUNCTIONS):
            return None
        if bound.value is not None and self._is_left(function, bound):
            return literal(bound.value)
        return self._given_by_all(function, bound)

    def _given_by_all(self, function: FunctionNode, bound: Binding) -> tuple[object] | None:
        """The same truth value or number, where every call that may run a function gives it, or leaves it there."""
        key = (function, bound.name)
        if key not in self._given:
            self._given[key] = self._find_given(function, bound)
        return self._given[key]

    def _find_given(self, function: FunctionNode, bound: Binding) -> tuple[object] | None:
        calls = self._definitions.calls_of(function)
        given = self._definitions.arguments.of(function, bound.name)
        values = {literal(item) for item in given}
        if len(given) < len(calls):
            values.add(None if bound.value is None else literal(bound.value))
        same = values.pop() if len(values) == 1 and len(calls) <= CALLS_LOOKED_AT else None
        if same is None or not isinstance(same[0], bool | int | float):
            return None
        name = qualified_in_file(self._tree, function)
        is_known = not any(map(is_open, calls)) and not any(map(self._definitions.is_of_main, calls))
        is_known = is_known and not any(call.function == name for call in self._outside)
        runs = {call.func for call in calls}  # a forward pass runs where its module is called
        is_known = is_known and all(node in runs for node in self._tree.attributes_called(function.name))
        return same if is_known and function.name != "forward" and not self.is_handed_on(function) else None

    def is_left_at(self, name: ast.Name, default: object) -> bool:
        """Whether a name is a parameter with this default, which all calls that are known leave there."""
        return self._constant(name) == (default,)

    def is_left_none(self, bound: Binding) -> bool:
        """Whether all calls that are known leave a parameter at its default, which is None: no tensor comes there."""
        function = bound.statement
        is_none = bound.value is not None and literal(bound.value) == (None,)
        return is_none and isinstance(function, FUNCTIONS) and self._is_left(function, bound)

    def _is_left(self, function: FunctionNode, bound: Binding) -> bool:
        key = (function, bound.name)
        found = self._left.get(key)
        if found is None:
            here = self._definitions.calls_of(function)
            name = qualified_in_file(self._tree, function)
            others = [call for call in self._outside if call.function == name]
            found = (
                bool(here or others)
                and not self._is_set_otherwise(function, bound.name)
                and not any(map(is_open, here))
                and not self._definitions.arguments.of(function, bound.name)
                and all(bound.name in call.left for call in others)
            )
            self._left[key] = found
        return found

    def _is_set_otherwise(self, function: FunctionNode, flag: str) -> bool:
        """Whether a flag may come from where no call shows: a command line, ``partial(step, report=True)``.

        Also from a call of nobody knows what that gives something of that name.
        """
        return self.is_handed_on(function) or any(
            keyword.arg == flag
            and not (self._names.qualified(call.func) or "").startswith(_OF_LIBRARIES)
            and self._definitions.function_called(call) in (None, function)
            for call in self._tree.calls
            for keyword in call.keywords
        )

    def is_handed_on(self, function: FunctionNode) -> bool:
        """Whether something may call a function that nobody sees: it is decorated, kept, or given to others."""
        if any(not call.args for call in self._names.calls_to(*_OPEN_TO_ALL)):
            return True
        known = (self._names.qualified(getattr(item, "func", item)) or "" for item in function.decorator_list)
        if not all(name.startswith(_HARMLESS) for name in known):
            return True
        for mention in self._names.mentions_of(function):
            user = self._tree.parents[mention]
            if not isinstance(user, ast.Call) or user.func is not mention:
                return True
        return False


def catches_failure(tree: SyntaxTree, handler: ast.ExceptHandler) -> bool:
    """Whether a handler runs where something went wrong, ``except RuntimeError:``, or raises itself in the end.

    ``try: x = x.numpy()`` fails for each tensor of the device.
    """
    if isinstance(handler.body[-1], ast.Raise):
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type] if handler.type else []
    tried = tree.parents[handler]
    if not all((last_name(kind) or "") in _FAILURES for kind in kinds) or not isinstance(tried, ast.Try):
        return False
    attributes = (node for statement in tried.body for node in tree.nodes_in(statement, ast.Attribute))
    return not any(node.attr == "numpy" for node in attributes)


def flags_left(call: ast.Call, function: FunctionNode, given: Sequence[tuple[str, ast.expr]]) -> tuple[str, ...]:
    """Parameters that a call leaves at a default which is written out, be it by None: ``quantize(x, None)``."""
    if is_open(call):
        return ()
    values = {name: literal(value) for name, value in given}
    return tuple(
        name for name, default in _flags(function).items() if name not in values or values[name] == default == (None,)
    )


def has_flags(tree: SyntaxTree, function: FunctionNode) -> bool:
    """Whether a function has a default that is written out, and a branch that a parameter decides."""
    if not _flags(function):
        return False
    given = function.args
    names = {argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    tests = (branch.test for branch in tree.nodes_in(function, ast.If) if isinstance(branch, ast.If))
    return any(isinstance(node, ast.Name) and node.id in names for test in tests for node in ast.walk(test))


def _flags(function: FunctionNode) -> dict[str, tuple[object]]:
    """Parameters with a default that is written out, and what it is."""
    positional = [*function.args.posonlyargs, *function.args.args]
    defaults: list[tuple[ast.arg, ast.expr | None]] = [
        *zip(positional[::-1], function.args.defaults[::-1], strict=False),
        *zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True),
    ]
    known = ((item.arg, literal(value)) for item, value in defaults if value is not None)
    return {name: value for name, value in known if value is not None}


def is_open(call: ast.Call) -> bool:
    """Whether a call unpacks anything, so that nobody can tell what it gives."""
    starred = any(isinstance(item, ast.Starred) for item in call.args)
    return starred or any(keyword.arg is None for keyword in call.keywords)


def literal(node: ast.expr) -> tuple[object] | None:
    """The value of a constant, ``-1`` among them."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        number = node.operand.value
        return (-number,) if isinstance(number, int | float) else None
    return (node.value,) if isinstance(node, ast.Constant) else None
