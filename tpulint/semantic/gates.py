"""Gates: conditions that let what stands behind them run only every n-th turn of a loop, or rarely."""

from __future__ import annotations

import ast
import re
from collections.abc import Container
from functools import cached_property

from tpulint.semantic.bindings import Binding
from tpulint.semantic.counters import Counters
from tpulint.semantic.default_flags import DefaultFlags
from tpulint.semantic.definitions import Definitions
from tpulint.semantic.imported import Imported
from tpulint.semantic.names import Names
from tpulint.semantic.other_files import returned
from tpulint.semantic.skipped_turns import SkippedTurns
from tpulint.semantic.tree import FUNCTIONS, LOOPS, SyntaxTree, is_of_self
from tpulint.semantic.variables import last_name

_BATCHES = re.compile(r"(?i)loader|data|batch|iter|epoch|step")
"""What stands in names of what a training goes through, and not one step of it."""
_TRAINS = re.compile(r"(?i)updat|train|learn|optimi")
"""What stands in names of what asks whether a turn is a step."""
_CONTROL = frozenset({"should_log", "should_save", "should_evaluate"})
"""What the ``TrainerControl`` of Transformers, which callbacks set, says of a turn."""
_REMAINDERS = ("mod", "remainder", "fmod")
_MODULES_WITH_REMAINDERS = ("np", "numpy", "math", "operator", "torch")
_FEW = 8
"""Turns, of as many as an epoch has."""


class Gates:
    """The gates of one file."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        counters: Counters,
        flags: DefaultFlags,
        definitions: Definitions,
        imported: Imported,
    ) -> None:
        self._tree = tree
        self._names = names
        self._counters = counters
        self._flags = flags
        self._definitions = definitions
        self._imported = imported
        self._asked: set[str] = set()
        """Names that are being looked at: a flag may stand in its own condition."""

    def is_one(self, branch: ast.If) -> bool:
        """Whether the body of an ``if`` runs every n-th turn only."""
        return self._is_interval(branch.test)

    def above(self, node: ast.AST, loops: Container[ast.AST], passed_over: Container[ast.AST] = ()) -> ast.AST | None:
        """The ``if`` (or ``and``) between a node and the nearest of these loops that is such a gate; None for none.

        In place of one that turns go on early by, the ``continue``, since it holds nothing. Those ``passed_over`` are
        none.
        """
        child = node
        for ancestor in self._tree.ancestors(node):
            early = self._skipped_in_front(child, loops, passed_over)
            if early is not None:
                return early
            if isinstance(ancestor, FUNCTIONS) or ancestor in loops:
                return None
            if (
                isinstance(ancestor, ast.If)
                and self._tree.in_body(ancestor, child)
                and ancestor not in passed_over
                and (self._is_interval(ancestor.test) or self._asks_for_turn(ancestor.test, loops))
                and not self._asks_for_part(ancestor, loops)
                and not self._asks_for_item(ancestor, loops)
            ):
                return ancestor
            if isinstance(ancestor, ast.If) and self._flags.rule_out(ancestor, child):
                return ancestor
            if isinstance(ancestor, ast.BoolOp) and isinstance(ancestor.op, ast.And) and isinstance(child, ast.expr):
                before = ancestor.values[: ancestor.values.index(child)]
                if any(self._is_interval(value) for value in before):
                    return ancestor
            child = ancestor
        return None

    @cached_property
    def skipped(self) -> SkippedTurns:
        """Turns that go on early."""
        return SkippedTurns(self._tree, self._is_interval, self._counts)

    def _skipped_in_front(
        self, node: ast.AST, loops: Container[ast.AST], passed_over: Container[ast.AST]
    ) -> ast.stmt | None:
        """The ``continue`` or ``return`` in front of a statement, in its block, by which most turns go on early."""
        if not self.skipped.exits or not isinstance(node, ast.stmt):
            return None
        branch = self.skipped.in_front(node, passed_over)
        if branch is None or self._asks_for_part(branch, loops) or self._asks_for_item(branch, loops):
            return None
        return self.skipped.exits[branch]

    def _asks_for_part(self, branch: ast.If, loops: Container[ast.AST]) -> bool:
        """``for i, part in enumerate(batch): if i == 0:`` within such a loop: one part of every batch."""
        around = [loop for loop in self._tree.ancestors(branch) if isinstance(loop, ast.For)][:2]
        if len(around) < 2 or around[0] in loops or around[1] not in loops:
            return False
        dealt = {node.id for node in ast.walk(around[1].target) if isinstance(node, ast.Name)}
        parts = {node.id for node in ast.walk(around[0].iter) if isinstance(node, ast.Name)}
        counter = self._counters.of(around[0])
        return bool(dealt & parts) and any(
            isinstance(node, ast.Name) and node.id == counter for node in ast.walk(branch.test)
        )

    def _asks_for_item(self, branch: ast.If, loops: Container[ast.AST]) -> bool:
        """``for i, one in enumerate(outputs): if i % 3 == 0:``, a loop that a call of its function runs to the end."""
        loop = next((one for one in self._tree.ancestors(branch) if isinstance(one, (*LOOPS, *FUNCTIONS))), None)
        if not isinstance(loop, ast.For) or loop in loops or self._tree.loop_of(loop) is not None:
            return False
        listed = loop.iter.args[0] if isinstance(loop.iter, ast.Call) and len(loop.iter.args) == 1 else None
        name = self._names.qualified(loop.iter.func) if isinstance(loop.iter, ast.Call) else None
        if name == "builtins.range" and isinstance(listed, ast.Call) and len(listed.args) == 1:
            is_length = self._names.qualified(listed.func) == "builtins.len"
            listed = listed.args[0] if is_length else None
        elif name != "builtins.enumerate":
            return False
        if not isinstance(listed, ast.Name) or _BATCHES.search(listed.id) or self._tree.function_of(loop) is None:
            return False
        counter = self._counters.of(loop)
        return any(isinstance(node, ast.Name) and node.id == counter for node in ast.walk(branch.test))

    def _asks_for_turn(self, test: ast.expr, loops: Container[ast.AST]) -> bool:
        """``if step == 0:`` of a parameter for which each call gives the number of a turn of one of these loops."""
        if isinstance(test, ast.BoolOp):
            return isinstance(test.op, ast.And) and any(self._asks_for_turn(value, loops) for value in test.values)
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
            return False
        return any(self._is_given_turn(side, loops) for side in (test.left, test.comparators[0]))

    def _is_given_turn(self, node: ast.expr, loops: Container[ast.AST]) -> bool:
        bindings = self._names.bindings(node) if isinstance(node, ast.Name) else []
        function = bindings[0].statement if len(bindings) == 1 and bindings[0].kind == "parameter" else None
        if not isinstance(function, FUNCTIONS):
            return False
        given = self._definitions.arguments.of(function, bindings[0].name)
        return bool(given) and all(isinstance(item, ast.Name) and self._numbers_turn(item, loops) for item in given)

    def _numbers_turn(self, name: ast.Name, loops: Container[ast.AST]) -> bool:
        """Whether a name counts the turns of one of these loops, which is around it."""
        around = (one for one in self._tree.ancestors(name) if isinstance(one, LOOPS) and one in loops)
        return any(self._counters.of(loop) == name.id for loop in around)

    def _is_interval(self, test: ast.expr) -> bool:
        """``step % n == 0`` in any of its spellings, alone or and-ed, and the last or first turn."""
        if isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And):
                return any(self._is_interval(value) for value in test.values)
            intervals = [self._is_interval(value) for value in test.values]
            # `step % n == 0 or step < 8`
            return any(intervals) and all(map(self._is_rare, test.values))
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return _is_remainder(test.operand)
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            if _is_of_remainder(test):
                return True
            if not isinstance(test.ops[0], ast.Eq):
                return self._is_of_first_turns(test) or self._is_renewed(test)
            # `if i == 0`, `if step == last`: one turn of many, when a counter is compared.
            return any(map(self._counts, (test.left, test.comparators[0])))
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
        return is_few and self._counts(test.left)

    def _is_renewed(self, test: ast.Compare) -> bool:
        """``if step - logged >= n:``, the block of which sets ``logged = step``; ``if step >= due: due += n``."""
        branch = next((one for one in self._tree.ancestors(test) if not isinstance(one, ast.BoolOp)), None)
        if not isinstance(branch, ast.If) or not isinstance(test.ops[0], ast.Gt | ast.GtE):
            return False
        if isinstance(test.left, ast.BinOp) and isinstance(test.left.op, ast.Sub):
            now, due, is_later = test.left.left, ast.unparse(test.left.right), False
        else:
            now, due, is_later = test.left, ast.unparse(test.comparators[0]), True
        return any(
            (isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add) and ast.unparse(one.target) == due)
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
        return found

    def _is_answer(self, name: ast.Name) -> bool:
        """``show = step % n == 0``, in front of the ``if``."""
        return any(
            binding.kind == "assign"
            and binding.value is not None
            and not binding.path
            and not isinstance(binding.value, ast.Name)
            and self._is_interval(binding.value)
            for binding in self._names.bindings(name)
        )

    def _is_rare(self, test: ast.expr) -> bool:
        """Whether a condition holds every n-th turn, or only in the first or last turns."""
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and not isinstance(test.ops[0], ast.Eq):
            sides = (test.left, test.comparators[0])
            return any(map(self._counts, sides))
        return self._is_interval(test)

    def _is_raised_at_interval(self, flag: ast.Name) -> bool:
        """``show = False``, then ``if step % n == 0: show = True``"""
        raised = []
        for binding in self._names.bindings(flag):
            if binding.kind != "assign" or not isinstance(binding.value, ast.Constant) or binding.path:
                return False
            if binding.value.value:
                raised.append(self._tree.parents[binding.statement])
        return bool(raised) and all(isinstance(item, ast.If) and self._is_interval(item.test) for item in raised)

    def _counts(self, node: ast.expr) -> bool:
        """Whether an expression is the number of turns, ``step`` or ``self.step``, counted from wherever: ``i + 1``."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            return isinstance(node.right, ast.Constant) and self._counts(node.left)
        if isinstance(node, ast.Name):
            return self._is_counter(node)
        owner = self._tree.class_of(node)
        if owner is None or not is_of_self(node):
            return False
        bindings = self._names.attribute_bindings(owner, node.attr)
        return any(_is_raised(binding) or self._is_number(binding) for binding in bindings)

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
    sides = [_is_remainder(side) for side in (test.left, *test.comparators)]
    if len(sides) != 2:
        return False
    return any(sides) if isinstance(test.ops[0], ast.Eq) else sides[0] and isinstance(test.ops[0], ast.Lt)


def _is_remainder(node: ast.expr) -> bool:
    """``step % n`` or ``np.mod(step, n)``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 2:
        return node.func.attr in _REMAINDERS and last_name(node.func.value) in _MODULES_WITH_REMAINDERS
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)


def _tells_remainder(answer: ast.expr) -> bool:
    """Whether a function says with this that the turn is one of every n."""
    if isinstance(answer, ast.BoolOp) and isinstance(answer.op, ast.And):
        return any(map(_tells_remainder, answer.values))
    return isinstance(answer, ast.Compare) and _is_of_remainder(answer)


def _is_raised(binding: Binding) -> bool:
    """``step += 1``"""
    return binding.kind == "augment" and isinstance(binding.value, ast.Constant)
