"""Conditions that hold every n-th turn of a loop only, ``if step % n == 0``, or rarely."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from tpulint.semantic.functions.default_flags import literal
from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.loops.counters import Counters
from tpulint.semantic.loops.given_flags import GivenFlags
from tpulint.semantic.project.imported import Imported
from tpulint.semantic.project.other_files import returned
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import LOOPS, is_of_self
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name

_TRAINS = re.compile(r"(?i)updat|train|learn|optimi")
"""What stands in names of what asks whether a turn is a step."""
_CONTROL = frozenset({"should_log", "should_save", "should_evaluate"})
"""What the ``TrainerControl`` of Transformers, which callbacks set, says of a turn."""
_REMAINDERS = ("mod", "remainder", "fmod")
_MODULES_WITH_REMAINDERS = ("np", "numpy", "math", "operator", "torch")
_DRAWS = ("random.random", "numpy.random.rand", "numpy.random.random", "numpy.random.uniform")
_RARELY = 0.1
"""Of all turns."""
_EVERY_TURN = ((0,), (1,))
"""Distances that each turn goes."""
_FEW = 8
"""Turns, of as many as an epoch has."""
_MANY = 50
"""Turns: of other things there are less."""


class Intervals:
    """Answers about the conditions of one file."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        counters: Counters,
        definitions: Definitions,
        imported: Imported,
        given: GivenFlags,
    ) -> None:
        self._tree = tree
        self._names = names
        self._counters = counters
        self._definitions = definitions
        self._imported = imported
        self._given = given
        self._asked: set[str] = set()
        """Names that are being looked at: a flag may stand in its own condition."""

    def hold(self, test: ast.expr) -> bool:
        """``step % n == 0`` in any of its spellings, alone or and-ed, and the last or first turn."""
        if isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And):
                return any(self.hold(value) for value in test.values)
            intervals = [self.hold(value) for value in test.values]
            # `step % n == 0 or step < 8`
            return any(intervals) and all(map(self._is_rare, test.values))
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return is_remainder(test.operand)
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            if _is_of_remainder(test):
                return True
            if isinstance(test.ops[0], ast.In):
                turns = test.comparators[0]
                return (self._are_turns(turns) or self._are_steps(turns, test)) and self.counts(test.left)
            if not isinstance(test.ops[0], ast.Eq):
                return self._is_of_first_turns(test) or self._is_renewed(test) or self._is_drawn(test)
            # `if i == 0`, `if step == last`: one turn of many, when a counter is compared.
            return any(map(self.counts, (test.left, test.comparators[0])))
        if isinstance(test, ast.Call):
            return self._answers_interval(test)
        if isinstance(test, ast.Attribute):
            return test.attr in _CONTROL
        return isinstance(test, ast.Name) and self._tells_interval(test)

    def _answers_interval(self, call: ast.Call) -> bool:
        """``if counter.needs_printing():``, which returns ``self.total % self.interval < self.size``.

        What asks whether to train, ``if self.is_update():``, lets whole steps through.
        """
        if _TRAINS.search(self._tree.text(call.func)):
            return False
        function = self._definitions.function_called(call)
        if function is not None:
            answers = self._definitions.returned_by(function)
        else:
            called = self._imported.called(call)
            answers = [] if called is None else returned(called)
        return bool(answers) and all(map(_tells_remainder, answers))

    def _is_of_first_turns(self, test: ast.Compare) -> bool:
        """``if batch < 3``: pictures of the first batches."""
        last = test.comparators[0].value if isinstance(test.comparators[0], ast.Constant) else None
        is_few = isinstance(last, int) and last <= _FEW and isinstance(test.ops[0], ast.Lt | ast.LtE)
        return is_few and self.counts(test.left)

    def _are_turns(self, node: ast.expr) -> bool:
        """``(0, 100, 1000)``: more than layers or parts are counted by."""
        if isinstance(node, ast.Name):
            whole = self._bound_to(node)
            return whole is not None and not isinstance(whole, ast.Name) and self._are_turns(whole)
        numbers = _numbers_listed(node)
        return bool(numbers) and max(numbers) >= _MANY

    def _are_steps(self, turns: ast.expr, test: ast.expr) -> bool:
        """``for step in range(1, steps): if step in config.milestones: model.grow()``, with a backward pass behind it.

        Turns of a short loop, ``for part in range(4)``, are parts of a step.
        """
        if not self._are_listed(turns):
            return False
        loop = self._tree.loop_of(test)
        if not isinstance(loop, LOOPS) or self._tree.function_of(loop) is not self._tree.function_of(test):
            return False
        counted = loop.iter.args if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) else []
        ends = _whole_numbers(counted)
        if ends and max(ends) < _MANY:
            return False
        return any(self._tree.encloses(loop, call) for call in self._tree.attributes_called("backward"))

    def _are_listed(self, turns: ast.expr) -> bool:
        """``[10, 20]`` or an option, ``args.milestones``, there or under a name."""
        value = self._bound_to(turns) if isinstance(turns, ast.Name) else turns
        return value is not None and (isinstance(value, ast.Attribute) or _are_few(value))

    def _bound_to(self, name: ast.Name) -> ast.expr | None:
        """What a variable is set to, once and whole."""
        bindings = self._names.bindings(name)
        is_whole = len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path
        return bindings[0].value if is_whole else None

    def _is_drawn(self, test: ast.Compare) -> bool:
        """``random.random() < 0.01``"""
        if not isinstance(test.left, ast.Call) or not isinstance(test.ops[0], ast.Lt | ast.LtE):
            return False
        limit = literal(test.comparators[0])
        is_rare = limit is not None and isinstance(limit[0], float) and limit[0] <= _RARELY
        return is_rare and self._names.qualified(test.left.func) in _DRAWS

    def _is_renewed(self, test: ast.Compare) -> bool:
        """``if step - logged >= n:``, the block of which sets ``logged = step``; ``if step >= due: due += n``.

        And a count that begins anew, ``if count >= n: count = 0``.
        """
        branch = next((one for one in self._tree.ancestors(test) if not isinstance(one, ast.BoolOp)), None)
        if not isinstance(branch, ast.If) or not isinstance(test.ops[0], ast.Gt | ast.GtE):
            return False
        if isinstance(test.left, ast.BinOp) and isinstance(test.left.op, ast.Sub):
            now, due, is_later = test.left.left, ast.unparse(test.left.right), False
        else:
            now, due, is_later = test.left, ast.unparse(test.comparators[0]), True
            if literal(test.comparators[0]) not in _EVERY_TURN and self.counts(now) and _begins_anew(branch.body, now):
                return True
        if not is_later and literal(test.comparators[0]) in _EVERY_TURN:
            return False
        return any(
            (isinstance(one, ast.AugAssign) and _moves_on(one) and ast.unparse(one.target) == due)
            or (
                isinstance(one, ast.Assign)
                and due in map(ast.unparse, one.targets)
                and isinstance(one.value, ast.BinOp) is is_later
                and ast.unparse(one.value).startswith(ast.unparse(now))
            )
            for one in branch.body
        )

    def _tells_interval(self, name: ast.Name) -> bool:
        if name.id in self._asked:
            return False  # `show = show or ...`, `if show or ...: show = True`
        self._asked.add(name.id)
        found = self._is_raised_at_interval(name) or self._is_answer(name)
        self._asked.discard(name.id)
        return found or self._given.hold(name)

    def _is_answer(self, name: ast.Name) -> bool:
        """``show = step % n == 0``, in front of the ``if``."""
        return any(
            binding.kind == "assign"
            and binding.value is not None
            and not binding.path
            and not isinstance(binding.value, ast.Name)
            and self.hold(binding.value)
            for binding in self._names.bindings(name)
        )

    def _is_rare(self, test: ast.expr) -> bool:
        """Whether a condition holds every n-th turn, or only in the first or last turns."""
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and not isinstance(test.ops[0], ast.Eq):
            sides = (test.left, test.comparators[0])
            return any(map(self.counts, sides))
        return self.hold(test)

    def _is_raised_at_interval(self, flag: ast.Name) -> bool:
        """``show = False``, then ``if step % n == 0: show = True``"""
        raised = []
        for binding in self._names.bindings(flag):
            if binding.kind != "assign" or not isinstance(binding.value, ast.Constant) or binding.path:
                return False
            if binding.value.value:
                raised.append(self._tree.parents[binding.statement])
        return bool(raised) and all(isinstance(item, ast.If) and self.hold(item.test) for item in raised)

    def counts(self, node: ast.expr) -> bool:
        """Whether an expression is the number of turns, ``step`` or ``self.step``, counted from wherever: ``i + 1``."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            return isinstance(node.right, ast.Constant) and self.counts(node.left)
        if isinstance(node, ast.Name):
            return self._is_counter(node)
        owner = self._tree.class_of(node)
        if owner is not None and is_of_self(node):
            bindings = self._names.attribute_bindings(owner, node.attr)
            return any(_is_raised(binding) or self._is_number(binding) for binding in bindings)
        if isinstance(node, ast.Subscript):
            function = self._tree.function_of(node) or self._tree.module
            added = self._tree.nodes_in(function, ast.AugAssign)
            return any(_raises(one) and ast.unparse(one.target) == ast.unparse(node) for one in added)
        return isinstance(node, ast.Attribute) and self._tree.text(node) in self._raised

    @cached_property
    def _raised(self) -> set[str]:
        """Attributes of anything that count turns: ``state.step`` where ``state.step += 1`` is done."""
        stored = (node for node in self._tree.binders if isinstance(node, ast.Attribute))
        return {self._tree.text(node) for node in stored if _raises(self._tree.parents[node])}

    def _is_number(self, binding: Binding) -> bool:
        """``for self.step, batch in enumerate(loader)``"""
        is_first = binding.kind == "loop" and binding.path == (0,)
        return is_first and binding.value is not None and self._counters.is_numbered(binding.value)

    def _is_counter(self, name: ast.Name) -> bool:
        """Whether a name counts turns: bound by ``enumerate`` or ``range``, stepped by ``+= 1``, or ``j = i // 4``."""
        for binding in self._names.bindings(name):
            if _is_raised(binding) or self._is_counted(binding):
                return True
            loop = binding.statement
            if binding.kind == "loop" and isinstance(loop, LOOPS) and self._counters.of(loop) == name.id:
                return True
        return False

    def _is_counted(self, binding: Binding) -> bool:
        """``count = i + 1``; what is counted from itself, ``size = size // 2``, counts no turns."""
        value = binding.value
        if binding.kind != "assign" or binding.path or not isinstance(value, ast.BinOp):
            return False
        if not isinstance(value.op, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv):
            return False
        sides = [side for side in (value.left, value.right) if isinstance(side, ast.Name)]
        if binding.name in self._asked or any(side.id == binding.name for side in sides):
            return False
        self._asked.add(binding.name)
        found = any(map(self._is_counter, sides))
        self._asked.discard(binding.name)
        return found


def _is_of_remainder(test: ast.Compare) -> bool:
    """``step % n == 0``; ``samples % n < size``, where a turn counts more than one."""
    sides = [is_remainder(side) for side in (test.left, *test.comparators)]
    if len(sides) != 2:
        return False
    return any(sides) if isinstance(test.ops[0], ast.Eq) else sides[0] and isinstance(test.ops[0], ast.Lt)


def is_remainder(node: ast.expr) -> bool:
    """``step % n`` or ``np.mod(step, n)``; ``step & 127``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 2:
        return node.func.attr in _REMAINDERS and last_name(node.func.value) in _MODULES_WITH_REMAINDERS
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd) and isinstance(node.right, ast.Constant):
        ones = node.right.value
        return isinstance(ones, int) and ones > 1 and ones & (ones + 1) == 0
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)


def _are_few(node: ast.expr) -> bool:
    """``[10, 20]``, and not the first turns, ``(0, 1, 2)``: of a short loop these are all."""
    numbers = _numbers_listed(node)
    return 0 < len(numbers) <= _FEW and sorted(numbers) != [*range(len(numbers))]


def _numbers_listed(node: ast.expr) -> list[int]:
    """The whole numbers of a display that has nothing else in it."""
    items = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else []
    numbers = _whole_numbers(items)
    return numbers if len(numbers) == len(items) else []


def _whole_numbers(items: list[ast.expr]) -> list[int]:
    """Those that are written out."""
    return [value[0] for value in map(literal, items) if value is not None and isinstance(value[0], int)]


def _tells_remainder(answer: ast.expr) -> bool:
    """Whether a function says with this that the turn is one of every n."""
    if isinstance(answer, ast.BoolOp) and isinstance(answer.op, ast.And):
        return any(map(_tells_remainder, answer.values))
    return isinstance(answer, ast.Compare) and _is_of_remainder(answer)


def _begins_anew(block: list[ast.stmt], count: ast.expr) -> bool:
    """``count = 0``"""
    return any(
        isinstance(one, ast.Assign)
        and isinstance(one.value, ast.Constant)
        and ast.unparse(count) in map(ast.unparse, one.targets)
        for one in block
    )


def _moves_on(addition: ast.AugAssign) -> bool:
    """``due += n``, by more than one turn."""
    return isinstance(addition.op, ast.Add) and literal(addition.value) not in _EVERY_TURN


def _raises(statement: ast.AST) -> bool:
    """``step += 1``"""
    if not isinstance(statement, ast.AugAssign) or not isinstance(statement.op, ast.Add):
        return False
    return isinstance(statement.value, ast.Constant)


def _is_raised(binding: Binding) -> bool:
    """``step += 1``"""
    return binding.kind == "augment" and isinstance(binding.value, ast.Constant)
