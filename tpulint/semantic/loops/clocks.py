"""Waits in front of a clock: what is measured is the work on the device, so the step boundary there has to wait too."""

from __future__ import annotations

import ast
import re

from tpulint.semantic.graphs.statement_work import Work
from tpulint.semantic.loops.regions import Step
from tpulint.semantic.syntax.nodes import LoopNode
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

WAITS = ("torch.cuda.synchronize", "torch.accelerator.synchronize")
CLOCKS = frozenset({
    "time.time", "time.time_ns", "time.perf_counter", "time.perf_counter_ns", "time.monotonic", "time.monotonic_ns",
    "timeit.default_timer", "datetime.datetime.now", "datetime.datetime.utcnow",
})  # fmt: skip
_TIMES = r"\bEvent\(|[tT]imer|timeit|[pP]rofile|\.(?:start|tic|tick|lap)\("
"""What measures time under other names."""
_FLAG = r"(?i)(?:use_?|is_|on_|has_)?(?:cuda|gpus?)"
"""Names of flags that choose the device: ``args.cuda``, ``use_gpu``."""


class Clocks:
    """Answers for the step loops of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def is_timed_wait(self, name: ast.expr) -> bool:
        """Whether a name is that of a wait which turns of its step loop come to, just before they read a clock.

        Between the forward pass and the update it would cut the step in two, for the sake of the clock. Where only some
        turns come to it, another boundary has to end each of them.
        """
        call = self._index.parent(name)
        if not isinstance(call, ast.Call) or call.func is not name:
            return False
        if self._index.qualified_name(name) not in WAITS:
            return False
        own = self._index.parent(call)
        step = self._index.step_loop_of(name)
        if not isinstance(own, ast.Expr) or step is None:
            return False
        statement: ast.stmt = own
        if (guard := self._guard(own)) is not None and self._stands_in(guard, step):
            statement = guard
        elif not self._stands_in(own, step) and not self._stands_behind(own, step):
            return False
        suite = self._index.tree.suite_of(statement)
        for following in suite[suite.index(statement) + 1 :]:
            if self._reads_clock(following):
                return not self._cuts_step(statement, step)
            if self._index.statement_work.of(following) is Work.DEVICE:
                return False
        return False

    def guard_of(self, name: ast.expr) -> ast.If | None:
        """The condition around such a wait, of which turns come to it, that asks for the device and guards no more.

        As the boundary of a step the wait stands in every turn, whatever the device is.
        """
        guard, step = self._guard(self._index.statement_of(name)), self._index.step_loop_of(name)
        is_whole = guard is not None and step is not None and self._stands_in(guard, step)
        return guard if is_whole and self.is_timed_wait(name) else None

    def _guard(self, statement: ast.stmt) -> ast.If | None:
        """``if device.type == "cuda":`` around nothing but a wait"""
        guard = self._index.parent(statement)
        if not isinstance(guard, ast.If) or guard.body != [statement] or guard.orelse:
            return None
        test, guards = guard.test, self._index.guards
        if isinstance(test, ast.BoolOp):
            return None  # an option may say more
        is_flag = re.fullmatch(_FLAG, last_name(test)) is not None
        return guard if is_flag or _excludes_host(test) or guards.asks_cuda(test) or guards.asks_xla(test) else None

    def ends(self, step: Step) -> bool:
        """Whether such a wait ends every turn of a step: it comes behind the update, with no read before it."""
        tree, reads = self._index.tree, self._index.reads
        events = [*step.backwards, *step.updates, *step.manual_updates]
        if not events or not all(tree.encloses(step.node, event) for event in events):
            return False
        last = max(map(tree.start, events))
        for name, _ in self._index.references(*WAITS):
            at = tree.start(name)
            if at <= last or self._index.step_loop_of(name) is not step:
                continue
            if self._stands_in(tree.statement_of(name), step) and self.is_timed_wait(name):
                return not any(last < tree.start(read.node) < at for read in reads.inside(step.node))
        return False

    @property
    def are_read(self) -> bool:
        """Whether the file measures time at all: if not, a wait in an evaluation is for nothing."""
        return bool(self._index.names.calls_to(*CLOCKS)) or self._index.mentions(_TIMES)

    def ends_batch(self, loop: LoopNode) -> bool:
        """Whether every turn of an evaluation loop waits for CUDA where its boundary belongs, or in front of that.

        Where time is measured each such call becomes a boundary that waits. One further down comes too late: what is
        in front of it may read from the device, and what that does not need is computed again.
        """
        if not self.are_read:
            return False
        work, body = self._index.statement_work, loop.body
        end = body.index(self._index.turns.evaluation_place(loop)) + 1
        while end < len(body) and work.of(body[end]) is Work.HOST:
            end += 1
        calls = (self._index.parent(name) for name, _ in self._index.references(*WAITS))
        return any(self._index.parent(call) in body[: end + 1] for call in calls if isinstance(call, ast.Call))

    def _stands_in(self, statement: ast.stmt, step: Step) -> bool:
        """Whether every turn of a step that goes well runs a statement."""
        child: ast.AST = statement
        for ancestor in self._index.tree.ancestors(statement):
            if ancestor is step.node:
                return child in step.node.body
            plain = isinstance(ancestor, ast.With | ast.AsyncWith) or (
                isinstance(ancestor, ast.Try) and child in ancestor.body
            )
            if not plain:
                return False
            child = ancestor
        return False

    def _stands_behind(self, statement: ast.stmt, step: Step) -> bool:
        """Whether a statement stands in a branch behind the boundary of a step: ``if number % 100 == 0``."""
        tree = self._index.tree
        if not tree.encloses(step.node, statement) or not self._has_end(step):
            return False
        is_here = tree.function_of(statement) is tree.function_of(step.node)
        return is_here and self._index.boundaries.is_behind(statement, step)

    def _has_end(self, step: Step) -> bool:
        """Whether every turn has a boundary, or gets one for sure: the wait of some would hide that it has none."""
        if step.boundaries:
            return self._index.boundaries.sync_of(step) is not None
        is_given = step.is_certain and not self._index.kept_states.are_deleted
        return is_given and bool(self._index.turns.boundary_places(step))

    def _cuts_step(self, statement: ast.stmt, step: Step) -> bool:
        place = next(at for at, item in enumerate(step.node.body) if self._index.tree.encloses(item, statement))
        return self._index.step_cuts.part(step, place) is not None

    def _reads_clock(self, statement: ast.stmt) -> bool:
        return any(
            isinstance(node, ast.Call) and self._index.qualified_name(node.func) in CLOCKS
            for node in self._index.tree.inside(statement, functions=False)
        )


def _excludes_host(test: ast.expr) -> bool:
    """``device.type != "cpu"``"""
    is_unequal = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.NotEq)
    other = test.comparators[0] if isinstance(test, ast.Compare) and is_unequal else None
    return isinstance(other, ast.Constant) and other.value == "cpu"
