"""Totals of a loop that start with a tensor of one element, which is copied to the device."""

from __future__ import annotations

import ast
import re

from tpulint.context import FixBuilder
from tpulint.model import Span
from tpulint.semantic import Binding, LoopNode, SemanticIndex
from tpulint.semantic.syntax.bindings import element_of
from tpulint.semantic.totals.late_additions import late_additions
from tpulint.semantic.totals.own_variables import outermost_behind
from tpulint.semantic.totals.totals import Total
from tpulint_rules.host_sync._device_values import device_text, torch_text


class UploadedStarts:
    """What is written in place of the numbers that the totals of one loop start with."""

    def __init__(self, fix: FixBuilder, index: SemanticIndex) -> None:
        self._fix = fix
        self._index = index
        self._before: dict[LoopNode, list[str]] = {}
        self._shared: dict[ast.stmt, list[str]] = {}
        """What is written for totals that are set in one statement, ``a = b = 0``."""
        self._places: dict[ast.stmt, LoopNode] = {}
        """The loops that such statements start totals for, in front of which they start."""

    def upload(self, total: Total) -> None:
        """Let a variable start with a tensor, in front of its loop and wherever it is set back in it."""
        assert total.own is not None
        zero = self.zero(total)
        self._start_with(total, zero)
        for reset in total.own.resets:
            statement = self._index.statement_of(reset)
            if _is_shared(statement):
                self._shared.setdefault(statement, []).append(f"{self._index.text(total.target)} = {zero}")
            else:
                self._fix.replace(reset, zero)

    def put_before(self, loop: LoopNode, line: str) -> None:
        """Write a line in front of a loop."""
        self._before.setdefault(loop, []).append(line)

    def write(self) -> None:
        """Write the lines of all totals, those of one place together."""
        for statement, lines in self._shared.items():
            place = self._places.get(statement)
            if isinstance(statement, ast.Assign) and len(lines) == len(statement.targets):
                self._fix.replace(statement, f"\n{self._fix.indent_of(statement)}".join(lines))
            elif place is not None:
                self._before.setdefault(place, []).extend(lines)
            else:
                self._fix.insert_after(statement, "\n".join(lines))
        for loop, lines in self._before.items():
            self._fix.insert_before(loop, "\n".join(lines))

    def zero(self, total: Total) -> str:
        """A sum of nothing, uploaded: a 0 made on the device would be a constant, and another graph."""
        torch = torch_text(self._fix, self._index, total.loop)
        dtype = f", dtype={torch}.long" if total.is_count else ""
        return f"{torch}.zeros(1{dtype}).to({device_text(self._fix, self._index, total.loop)})"

    def _start_with(self, total: Total, zero: str) -> None:
        """Start with a tensor: in place of the number, or on a line of its own where ``a = b = 0`` shares it."""
        assert total.own is not None
        fix, index, start = self._fix, self._index, total.own.start
        element, statement = element_of(start), start.statement
        if element is not None and not _is_shared(statement) and _is_readable_at(index, zero, statement):
            if isinstance(statement, ast.AnnAssign):  # `total: float = 0.0` says what is no longer so
                fix.replace(statement, f"{index.text(statement.target)} = {zero}")
            else:
                fix.replace(element, zero)
            return
        outer = outermost_behind(index, total.loop, start)
        line = f"{start.name} = {zero}"
        if isinstance(statement, ast.stmt) and _is_shared(statement) and _is_readable_at(index, zero, statement):
            self._shared.setdefault(statement, []).append(line)
            self._places[statement] = outer
            return
        if outer is not total.loop and not _is_readable_at(index, zero, outer):
            fix.give_up()
        self.put_before(outer, line)


def add_in_time(fix: FixBuilder, index: SemanticIndex, loop: LoopNode, additions: list[ast.stmt]) -> None:
    """Let the step add up what it computes: behind its boundary, the sums would be left to the next one."""
    late = late_additions(index, loop, additions)
    if late is None or any(map(fix.has_neighbours, (*late.passed, late.last))):
        return
    source = index.source
    starts = [source.line_start(index.span(statement).start) - 1 for statement in late.passed]
    ends = [source.line_end(index.span(statement).end) + 1 for statement in late.passed]
    if not any(fix.covers(Span(*around)) for around in zip(starts, ends, strict=True)):
        fix.move_behind(late.passed, late.last)


def _is_shared(statement: ast.AST | None) -> bool:
    """Whether several variables get the same value: ``a = b = 0``, a tensor for both would add up both."""
    return isinstance(statement, ast.Assign) and len(statement.targets) > 1


def _is_readable_at(index: SemanticIndex, text: str, place: ast.AST) -> bool:
    """Whether the variables in a text have their values where a statement stands, in front of the loop."""
    scope = index.names.scope_of(place)
    for name in re.findall(r"(?<![\w.])[A-Za-z_]\w*", text):
        found = index.names.find(name, scope)
        if found is not None and found[0] is scope:
            begin = index.span(place).start
            # What all branches of a choice bind, and nothing binds behind it, is what the loop reads.
            in_front = all(binding.kind == "parameter" or _ends_by(index, binding, begin) for binding in found[1])
            if not in_front and not any(
                binding.kind == "parameter"
                or (index.flow.dominates(binding, place) and _ends_by(index, binding, begin))
                for binding in found[1]
            ):
                return False
    return True


def _ends_by(index: SemanticIndex, binding: Binding, offset: int) -> bool:
    """Whether a variable is bound by a statement that stands in front of an offset."""
    return binding.statement is not None and index.span(binding.statement).end <= offset


def starts_as_float(total: Total) -> bool:
    """Whether the number that a total starts with is a float."""
    element = None if total.own is None else element_of(total.own.start)
    return isinstance(element, ast.Constant) and isinstance(element.value, float)
