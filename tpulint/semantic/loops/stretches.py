"""Stretches of work between two looks at a clock."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.records import NamedTuple
from tpulint.semantic.loops.clocks import CLOCKS
from tpulint.semantic.loops.direct_events import SYNCS
from tpulint.semantic.syntax.nodes import LOOPS
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_WAITS = frozenset({
    "torch_xla.core.xla_model.wait_device_ops", "torch.cuda.synchronize", "torch.accelerator.synchronize",
    "torch.mps.synchronize", "torch_xla.core.xla_model.rendezvous", "torch_xla.core.xla_model.mesh_reduce",
})  # fmt: skip


class Stretch(NamedTuple):
    """Statements whose time is taken."""

    end: ast.expr
    """The second look at the clock."""
    statements: tuple[ast.stmt, ...]
    """What runs between the two looks."""
    boundaries: tuple[ast.Call, ...]
    """The step boundaries in it, none of which waits."""


class Stretches:
    """Where one file takes the time of work on the device without waiting for it."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def unwaited(self) -> Iterator[Stretch]:
        """Stretches that record work for the device, and neither wait for it nor read from it."""
        index = self._index
        for node in index.tree.names:
            difference = index.parent(node)
            if not isinstance(difference, ast.BinOp) or not isinstance(difference.op, ast.Sub):
                continue
            if difference.right is not node:
                continue
            begin, end = self._looked_at(node), self._end(difference.left)
            if begin is None or end is None:
                continue
            statements = self._between(begin, index.statement_of(end))
            if statements and self._records(statements):
                boundaries = self._boundaries(statements)
                if boundaries is not None:
                    yield Stretch(end, tuple(statements), tuple(boundaries))

    def _looked_at(self, name: ast.Name) -> ast.stmt | None:
        """The one statement that gives a variable what the clock says."""
        bindings = self._index.flow.reaching(name)
        binding = bindings[0] if len(bindings) == 1 else None
        if binding is None or binding.kind != "assign" or binding.path or not self._is_clock(binding.value):
            return None
        return self._index.statement_of(binding.node)

    def _end(self, node: ast.expr) -> ast.expr | None:
        """The call that looks at the clock the second time."""
        if self._is_clock(node):
            return node
        statement = self._looked_at(node) if isinstance(node, ast.Name) else None
        value = statement.value if isinstance(statement, ast.Assign) else None
        return value if self._is_clock(value) else None

    def _is_clock(self, node: ast.AST | None) -> bool:
        return isinstance(node, ast.Call) and self._index.qualified_name(node.func) in CLOCKS

    def _between(self, begin: ast.stmt, end: ast.stmt) -> list[ast.stmt]:
        """The statements from one statement to another in the same block; empty where they stand in different ones."""
        suite = self._index.tree.suite_of(begin)
        first = suite.index(begin) + 1
        if end not in suite or suite.index(end) < first:
            return []
        return suite[first : suite.index(end)]

    def _records(self, statements: list[ast.stmt]) -> bool:
        """Whether a model surely runs there, once: the end of a whole loop is little against its length."""
        index, runs = self._index, False
        for statement in statements:
            for node in (statement, *index.tree.inside(statement, functions=False)):
                if isinstance(node, (*LOOPS, ast.Return, ast.Yield, ast.Await)):
                    return False
                if isinstance(node, ast.Call) and index.kind(node.func) is Kind.MODULE:
                    runs = runs or index.is_device_tensor(node)
        return runs

    def _boundaries(self, statements: list[ast.stmt]) -> list[ast.Call] | None:
        """Boundaries that do not wait; None where something waits, or may."""
        index, found = self._index, []
        for statement in statements:
            if index.reads.inside(statement):
                return None
            for node in index.tree.inside(statement, functions=False):
                if not isinstance(node, ast.Call):
                    continue
                name = index.qualified_name(node.func)
                if name in SYNCS and not any(item.arg == "wait" for item in node.keywords) and not node.args:
                    found.append(node)
                elif name in SYNCS or name in _WAITS or self._may_wait(node, name):
                    return None
        return found

    def _may_wait(self, call: ast.Call, name: str | None) -> bool:
        """Whether a call runs code that is not known, or reads."""
        index = self._index
        if name is not None:
            return not name.startswith(("torch.", "torch_xla.", "builtins.", "time.", "contextlib."))
        functions = index.regions.events.functions_of(call)
        if functions:
            return any(index.reads.inside(function) or index.regions.boundaries_in(function) for function in functions)
        if index.kind(call.func) is Kind.MODULE:
            return False
        if isinstance(call.func, ast.Attribute):
            owner = index.kind(call.func.value)
            return owner in (Kind.UNKNOWN, Kind.HOST) and call.func.attr not in ("backward", "append", "zero_grad")
        return True
