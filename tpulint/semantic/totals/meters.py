"""Meters: objects that keep sums of what they are given, of a class of the file or an imported ``AverageMeter``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tpulint.records import NamedTuple
from tpulint.semantic.loops.regions import Pace
from tpulint.semantic.reads.reads import Read, Use
from tpulint.semantic.syntax.bindings import Binding, part_of
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_NUMBERS_OF = ("builtins.float", "builtins.int", "torch.tensor")
"""Calls that take the number out of a tensor as well as they take a number."""
_WELL_KNOWN = "AverageMeter"
"""A class that is copied from project to project: it adds up ``val * n`` and divides by the sum of ``n``."""
_TRUTHS = frozenset({"any", "all", "eq", "ne", "isnan", "isinf", "isfinite"})
_SUMS = frozenset({"val", "avg", "sum"})
_NUMBER_FORMATS = ("e", "f", "g", "%")
_KNOWN_PARTS = frozenset({*_SUMS, "count", "update", "reset"})
_ASKED = "()"
"""Behind the name of a method among attributes: what a call of it gives."""


class Metered(NamedTuple):
    """A value that goes into a meter which works with tensors just as well."""

    numbers: tuple[ast.expr, ...]
    """Places outside of the meter's class that take a number out of it, by an attribute or a call."""
    bars: tuple[ast.stmt, ...] = ()
    """Texts of progress bars that show the meter in every step."""


class Meters:
    """Finds out whether a meter minds being given tensors."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._memo: dict[tuple[FunctionNode, str], frozenset[str] | None] = {}

    def of(self, read: Read) -> Metered | None:
        """The meter that a read goes into, if it can hold the tensor instead."""
        is_given = read.use in (Use.OTHER, Use.LIST) and self._index.scalars.is_number(read)
        return self.given(read.node) if is_given else None

    def given(self, number: ast.expr) -> Metered | None:
        """The meter that is given a number, a read or a variable, if it can hold the tensor instead."""
        index = self._index
        argument = self.argument_of(number)
        call = None if argument is None else index.parent(argument)
        if not isinstance(call, ast.Call) or argument not in call.args or not isinstance(index.parent(call), ast.Expr):
            return None
        if not isinstance(call.func, ast.Attribute):
            return None
        method = index.definitions.function_called(call)
        owner = None if method is None else index.tree.class_of(method)
        if method is None or owner is None:
            return self._imported(call, argument, call.func)
        positions = [argument.arg for argument in (*method.args.posonlyargs, *method.args.args)]
        at = call.args.index(argument) + 1
        if at >= len(positions) or any(isinstance(item, ast.Starred) for item in call.args):
            return None
        kept = self._attributes_holding(method, positions[at])
        bars = self._bars_showing(call.func.value)
        if not kept or bars is None:
            return None
        # Another meter of the class keeps what it is given: numbers, or tensors that its user expects back.
        is_meter = self._same_as(call.func.value, owner)
        numbers: list[ast.expr] = [
            node
            for node in index.tree.attributes
            if node.attr in kept
            and isinstance(node.ctx, ast.Load)
            and is_meter(node.value)
            and not self._is_formatted(node)
        ]
        for name in sorted(kept):
            numbers += (call for call in self._asking(name, is_meter) if not self._is_formatted(call))
        return Metered(tuple(numbers), bars)

    def _asking(self, name: str, is_meter: Callable[[ast.expr], bool]) -> Iterator[ast.Call]:
        """Calls for what a method of the meter returns: `meter.average()`, and `meter()` of one with `__call__`."""
        if not name.endswith(_ASKED):
            return
        index, method = self._index, name.removesuffix(_ASKED)
        for call in index.tree.calls:
            is_named = isinstance(call.func, ast.Attribute) and call.func.attr == method
            holder = call.func.value if isinstance(call.func, ast.Attribute) and is_named else call.func
            if (is_named or method == "__call__") and is_meter(holder) and not isinstance(index.parent(call), ast.Expr):
                yield call

    def _same_as(self, meter: ast.expr, owner: ast.ClassDef) -> Callable[[ast.expr], bool]:
        """Answers whether an expression is the meter; an attribute is by its name, whatever object has it."""
        index = self._index
        if isinstance(meter, ast.Attribute):
            return lambda other: isinstance(other, ast.Attribute) and other.attr == meter.attr
        known = [] if not isinstance(meter, ast.Name) else index.names.bindings(meter)
        return lambda other: (
            isinstance(other, ast.Name)
            and index.names.bindings(other) is known
            and index.definitions.classes.one_of_variable(other) is owner
        )

    def argument_of(self, number: ast.expr) -> ast.expr | None:
        """The argument that a number is, or is computed with: ``meter.update(loss.item() * steps, n)``."""
        index, argument = self._index, number
        while isinstance(parent := index.parent(argument), ast.BinOp | ast.UnaryOp):
            argument = parent
        if argument is number:
            return argument
        is_alone = all(read.node is number and not self._is_truth(read.tensor) for read in index.reads.inside(argument))
        return argument if is_alone and index.scalars.is_arithmetic(argument, {number}) else None

    def _is_truth(self, tensor: ast.expr) -> bool:
        """``(a == b).any()``: a tensor of truth values cannot be subtracted from, as a number can."""
        while isinstance(tensor, ast.Call) and isinstance(tensor.func, ast.Attribute):
            if tensor.func.attr in _TRUTHS:
                return True
            tensor = tensor.func.value
        if isinstance(tensor, ast.Name):
            values = [binding.value for binding in self._index.flow.reaching(tensor) if not binding.path]
            return any(isinstance(value, ast.Call | ast.Compare) and self._is_truth(value) for value in values)
        return isinstance(tensor, ast.Compare)

    def _imported(self, call: ast.Call, argument: ast.expr, func: ast.Attribute) -> Metered | None:
        """The meter of a class that is not seen, but known by its name and by how it is used."""
        index = self._index
        meter = func.value
        if not isinstance(meter, ast.Name) or func.attr != "update" or call.args[0] is not argument:
            return None
        found = index.names.find_name(meter)
        if found is None or not all(map(self._makes_known_meter, found[1])) or self._is_looked_at(call):
            return None
        numbers = []
        for use in index.names.loads(meter.id, found[0]):
            part = index.parent(use)
            if self._is_shown_in_parts(use):
                continue
            if not isinstance(part, ast.Attribute) or part.attr not in _KNOWN_PARTS:
                return None
            if not isinstance(part.ctx, ast.Load):
                return None
            if part.attr in _SUMS and not self._is_formatted(part):
                numbers.append(part)
        bars = self._bars_showing(meter)
        return None if bars is None else Metered(tuple(numbers), bars)

    def _is_looked_at(self, call: ast.Call) -> bool:
        """Whether the class stands in another file, and does more than sums with its value: ``if val > self.max:``."""
        method = self._index.imported.called(call)
        if method is None or not isinstance(method.node, FUNCTIONS) or len(method.node.args.args) < 2:
            return False
        return method.file.meters._attributes_holding(method.node, method.node.args.args[1].arg) is None

    def _is_shown_in_parts(self, use: ast.Name) -> bool:
        """Whether a meter is given to a text that shows its sums as numbers: ``"{m.val:.3f}".format(m=meter)``."""
        keyword = self._index.parent(use)
        call = self._index.parent(keyword) if isinstance(keyword, ast.keyword) else None
        if not isinstance(call, ast.Call) or not isinstance(keyword, ast.keyword):
            return False
        text = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "format" else None
        if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
            return False
        try:
            from string import Formatter

            fields = [(name, spec) for _, name, spec, _ in Formatter().parse(text.value) if name is not None]
        except ValueError:
            return False
        shown = [(name, spec) for name, spec in fields if name.partition(".")[0] == keyword.arg]
        return all(name.partition(".")[2] in _SUMS and (spec or "")[-1:] in _NUMBER_FORMATS for name, spec in shown)

    def _makes_known_meter(self, binding: Binding) -> bool:
        value = part_of(binding.value, binding.path)
        if binding.kind != "assign" or not isinstance(value, ast.Call):
            return False
        name = self._index.qualified_name(value.func) or ""
        if name.rpartition(".")[2] == _WELL_KNOWN and "." in name:
            return True
        # `from utils import *`
        names = self._index.names
        known = isinstance(value.func, ast.Name) and value.func.id == _WELL_KNOWN and names.has_star_import
        return known and names.find(_WELL_KNOWN, names.module) is None

    # ---------------------------------------------------------------- inside of the class

    def _attributes_holding(self, method: FunctionNode, parameter: str) -> frozenset[str] | None:
        """Attributes that take up what is passed for a parameter; None when anything but arithmetic is done with it."""
        key = (method, parameter)
        if key not in self._memo:
            self._memo[key] = None
            self._memo[key] = self._follow(method, parameter)
        return self._memo[key]

    def _follow(self, method: FunctionNode, parameter: str) -> frozenset[str] | None:
        index = self._index
        owner = index.tree.class_of(method)
        assert owner is not None
        own = method.args.args[0].arg
        variables, attributes = {parameter}, set[str]()
        size = -1
        while size != len(variables) + len(attributes):
            size = len(variables) + len(attributes)
            for node in index.tree.inside(owner):
                inside = index.tree.encloses(method, node)
                held = isinstance(node, ast.Name) and inside and node.id in variables and isinstance(node.ctx, ast.Load)
                if (
                    isinstance(node, ast.Attribute)
                    and isinstance(node.ctx, ast.Load)
                    and isinstance(node.value, ast.Name)
                ):
                    held = held or (node.attr in attributes and node.value.id == own)
                if not held:
                    continue
                assert isinstance(node, ast.expr)
                handed_on = self._handed_on(node, owner, own)
                if handed_on is not None:
                    attributes |= handed_on
                    continue
                target = self._taken_up_by(node)
                if target is None:
                    return None
                if isinstance(target, ast.Attribute):
                    attributes.add(target.attr)
                elif isinstance(target, ast.Name) and inside:
                    variables.add(target.id)
                elif isinstance(target, ast.Return):
                    attributes |= self._asked_for(target)
        if any(self._is_asked_within(owner, name.removesuffix(_ASKED)) for name in attributes if name.endswith(_ASKED)):
            return None
        return frozenset(attributes)

    def _is_asked_within(self, owner: ast.ClassDef, method: str) -> bool:
        """Whether the class itself asks a method for its number, other than for a text."""
        return any(
            isinstance(call.func, ast.Attribute)
            and call.func.attr == method
            and self._index.tree.encloses(owner, call)
            and not isinstance(self._index.parent(call), ast.Expr)
            and not self._is_formatted(call)
            for call in self._index.tree.calls
        )

    def _handed_on(self, node: ast.expr, owner: ast.ClassDef, own: str) -> frozenset[str] | None:
        """The attributes that take up a value given to another method of the object: ``self.add(value, n)``."""
        call = self._index.parent(node)
        if not isinstance(call, ast.Call) or node not in call.args or not isinstance(call.func, ast.Attribute):
            return None
        is_own = isinstance(call.func.value, ast.Name) and call.func.value.id == own
        method = self._index.definitions.method(owner, call.func.attr) if is_own else None
        at = call.args.index(node) + 1
        return (
            None
            if method is None or at >= len(method.args.args)
            else self._attributes_holding(method, method.args.args[at].arg)
        )

    def _asked_for(self, statement: ast.Return) -> set[str]:
        """The property or method that a statement gives the value of: `meter.avg` that is worked out when asked for."""
        function = self._index.tree.function_of(statement)
        if not isinstance(function, ast.FunctionDef):
            return set()
        decorators = [self._index.qualified_name(decorator) for decorator in function.decorator_list]
        if any(name in ("builtins.property", "functools.cached_property") for name in decorators):
            return {function.name}
        return set() if decorators else {function.name + _ASKED}

    def _taken_up_by(self, node: ast.expr) -> ast.AST | None:
        """What a value goes into: the target of its statement, or the expression that shows it; None for other uses."""
        tree = self._index.tree
        if self._is_formatted(node):
            return node
        child: ast.AST = node
        for ancestor in tree.ancestors(node):
            chosen = isinstance(ancestor, ast.IfExp) and child is not ancestor.test
            child = ancestor
            if chosen or isinstance(ancestor, ast.BinOp | ast.UnaryOp):
                continue
            if isinstance(ancestor, ast.AugAssign):
                return ancestor.target
            if isinstance(ancestor, ast.Assign) and len(ancestor.targets) == 1:
                target = ancestor.targets[0]
                return target if isinstance(target, ast.Name | ast.Attribute) else None
            if isinstance(ancestor, ast.Return):
                return ancestor
            return None
        return None

    def _is_formatted(self, node: ast.expr) -> bool:
        """Whether a value becomes part of a text, or a number, where it stands."""
        index = self._index
        for ancestor in index.tree.ancestors(node):
            if isinstance(ancestor, ast.FormattedValue):
                return True
            if isinstance(ancestor, ast.BinOp) and isinstance(ancestor.op, ast.Mod):
                left = ancestor.left
                if isinstance(left, ast.JoinedStr) or (isinstance(left, ast.Constant) and isinstance(left.value, str)):
                    return True
            if isinstance(ancestor, ast.Call):
                if index.qualified_name(ancestor.func) in _NUMBERS_OF:
                    return True
                return isinstance(ancestor.func, ast.Attribute) and ancestor.func.attr == "format"
            if isinstance(ancestor, (ast.stmt, *FUNCTIONS)):
                return False
        return False

    # ---------------------------------------------------------------- outside of it

    def _bars_showing(self, meter: ast.expr) -> tuple[ast.stmt, ...] | None:
        """Progress bars that show the meter in every step; None when something shows it that has to every time."""
        index = self._index
        names = list(index.tree.names_called(index.text(meter).partition(".")[0]))
        if isinstance(meter, ast.Name) and (found := index.names.find_name(meter)):
            names = index.names.loads(meter.id, found[0])
        bars: list[ast.stmt] = []
        for name in names:
            if index.regions.gate_of(name) is not None:
                continue
            pace = index.pace_of(name)
            if pace not in (Pace.STEP, Pace.EVALUATION) or not self._is_shown(name):
                continue
            statement, loop = index.statement_of(name), index.step_loop_of(name)
            if pace is Pace.EVALUATION or loop is None or statement not in loop.node.body:
                return None
            shown = index.shown_texts.bars_at(statement)
            if not shown:
                return None
            bars += shown
        return tuple(sorted(dict.fromkeys(bars), key=index.span))

    def _is_shown(self, name: ast.Name) -> bool:
        """Whether a meter, or a sum of it, is printed, logged or made part of a text where its name stands."""
        part = self._index.parent(name)
        if isinstance(part, ast.Attribute) and part.attr not in ("update", "reset") and self._is_formatted(part):
            return True
        for ancestor in self._index.tree.ancestors(name):
            if isinstance(ancestor, ast.Call) and self._index.reads.is_output(ancestor):
                return True
            if isinstance(ancestor, ast.keyword) and self._is_shown_in_parts(name):
                return True
            if isinstance(ancestor, ast.stmt):
                return False
        return False
