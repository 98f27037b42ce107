"""Reads and the step boundary: which reads stand behind it, and which statements can be moved there."""

from __future__ import annotations

import ast

from tpulint.model import Pace
from tpulint.semantic.bindings import Binding
from tpulint.semantic.drivers import Driver
from tpulint.semantic.events import OPTIMIZER_STEP, SYNCS
from tpulint.semantic.reads import Read
from tpulint.semantic.regions import CalledStep, Step
from tpulint.semantic.tree import FUNCTIONS, LOOPS, FunctionNode, LoopNode
from tpulint.semantic.values import Kind, Side, is_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.effects import Path

_DEPTH = 3
_GIVING = frozenset({"detach", "cpu", "to", "item", "clone", "contiguous"})
"""Methods of a tensor that compute nothing."""


class Deferrals:
    """Order of reads and boundaries in the turns of step loops."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._last_seen: dict[tuple[ast.AST, ast.stmt], bool | None] = {}
        self._places: dict[ast.AST, list[ast.stmt]] = {}

    # ---------------------------------------------------------------- where reads stand

    def reads_of(self, loop: Step) -> list[Read]:
        """Host reads in the turns of a step loop, those in functions it calls included, in order of position."""
        index = self._index
        found = [read for holder in (loop.node, *loop.functions) for read in index.reads.inside(holder)]
        step_of = index.regions.called_step_of if isinstance(loop, CalledStep) else index.regions.step_loop_of
        mine = {read.node: read for read in found if step_of(read.node) is loop}
        return sorted(mine.values(), key=lambda read: index.span(read.node))

    def has_boundary(self, loop: Step) -> bool:
        """Whether a step has a boundary, as far as is known."""
        return loop.call.has_boundary if isinstance(loop, CalledStep) else bool(loop.boundaries)

    def is_behind_boundary(self, node: ast.AST, loop: Step, depth: int = 0) -> bool:
        """Whether a node runs behind the step boundary of its turn; in a loop without one, behind where it belongs.

        What a function reads before it records anything itself stands where the function is called.
        """
        if isinstance(loop, Driver):
            return loop.call.has_boundary and any(self._is_behind(node, call) for call in loop.calls)
        if isinstance(loop, CalledStep):
            return loop.call.is_behind
        tree = self._index.tree
        function = tree.function_of(node)
        if function is not None and self._index.regions.is_gated(function):
            return depth < _DEPTH and self._calls_are_behind(function, loop, depth)
        # `criterion(model(x), y)` runs the model in front of what the function does.
        given = [*node.args, *(item.value for item in node.keywords)] if depth and isinstance(node, ast.Call) else []
        fresh = not any(map(self._index.regions.runs_module, given))
        places = self._boundary_places(loop)
        # A call that comes to the boundary itself: what is asked about was not found behind it in what is called.
        if not depth and self._passes_boundary(node, loop, places):
            return True
        child = tree.statement_of(node)
        while True:
            passed = self._passes_in_front(child, loop, places)
            if passed:
                return True
            fresh = fresh and passed is None and not self._is_handed_in_front(child)
            holder = tree.parents[child]
            while isinstance(holder, ast.ExceptHandler | ast.match_case):
                holder = tree.parents[holder]
            if holder is loop.node:
                # An evaluation that a turn begins with now and then: nothing of the step is recorded yet.
                return fresh and depth > 0 and self._index.pace_of(node) is Pace.LOG_INTERVAL
            if isinstance(holder, ast.Module):
                return False
            if isinstance(holder, FUNCTIONS):
                return depth < _DEPTH and fresh and self._calls_are_behind(holder, loop, depth)
            if not isinstance(holder, ast.stmt):
                return False
            child = holder

    def is_computed_behind(self, read: Read, loop: Step) -> bool:
        """Whether what stands behind a boundary reads what was computed there, too: a graph of its own.

        Where another file calls a function behind its boundary, that is what the function computes itself.
        """
        if not self.has_boundary(loop) or not self.is_behind_boundary(read.node, loop):
            return False
        return self.is_added_up(read) or self._is_computed(read.tensor, loop, 0)

    def is_added_up(self, read: Read) -> bool:
        """Whether the device adds a tensor to an element of an array, which waits for the sum: ``sums[0] += loss``."""
        given = self._index.tree.parents[read.node]
        return read.node is read.tensor and isinstance(given, ast.AugAssign) and given.value is read.node

    def computes(self, tensor: ast.expr) -> bool:
        """Whether an expression computes a tensor of the device: no variable, and not what a method gives of one."""
        source = self._source_of(tensor)
        is_computed = source is None or isinstance(source, ast.Call | ast.BinOp)
        return is_computed and self._index.is_device_tensor(tensor)

    def _source_of(self, tensor: ast.expr) -> ast.expr | None:
        """What attributes, elements and methods that compute nothing are taken of; None where a part is cut out."""
        while isinstance(tensor, ast.Attribute | ast.Subscript) or (
            isinstance(tensor, ast.Call) and isinstance(tensor.func, ast.Attribute) and tensor.func.attr in _GIVING
        ):
            if self._is_cut(tensor):
                return None
            tensor = tensor.func.value if isinstance(tensor, ast.Call) else tensor.value  # type: ignore[attr-defined]
        return tensor

    def _passes_another(self, binding: Binding, use: ast.expr, loop: Step) -> bool:
        """Whether a step has one more boundary between where a variable gets its value and where that is used."""
        boundaries = [] if isinstance(loop, CalledStep) else loop.boundaries
        if any(self._is_behind(use, one) and not self._is_behind(binding.node, one) for one in boundaries):
            return True
        # In the turns of a loop within the step, that of a critic: the boundary there has run what the last turn gave.
        tree = self._index.tree
        inner = tree.loop_of(binding.node)
        while inner is not None and inner is not loop.node and not tree.encloses(inner, use):
            if any(self._is_behind(one, binding.node) for one in self._index.regions.boundaries_in(inner)):
                return True
            inner = tree.loop_of(inner)
        return False

    def _is_computed(self, tensor: ast.expr, loop: Step, depth: int) -> bool:
        """Whether a tensor is computed from others behind the boundary, and not given to a function that runs there."""
        source = self._source_of(tensor)
        if source is None:
            return True
        if isinstance(source, ast.Name):
            bindings = self._index.flow.reaching(source)
            return depth < _DEPTH and bool(bindings) and all(
                self.is_behind_boundary(binding.node, loop)
                and not self._passes_another(binding, source, loop)
                and (
                    binding.kind == "augment"
                    or (
                        binding.kind == "assign"
                        and binding.value is not None
                        and (
                            self._is_made_by_function(source, binding.value)
                            if binding.path
                            else self._is_computed(binding.value, loop, depth + 1)
                        )
                    )
                )
                for binding in bindings
            )  # fmt: skip
        if isinstance(source, ast.Call) and self._index.definitions.function_run(source) is not None:
            return self._is_made_by_function(source, source)
        return isinstance(source, ast.Call | ast.BinOp | ast.Compare) and self._index.is_device_tensor(source)

    def _is_made_by_function(self, value: ast.expr, call: ast.expr) -> bool:
        """Whether a function of this file computes a value of tensors of the device: ``p1, p5 = accuracy(y, target)``.

        One that comes to a boundary, reads something or runs a module itself is another matter.
        """
        index = self._index
        function = index.definitions.function_called(call) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or function is None or not any(map(index.is_device_tensor, call.args)):
            return False
        events = index.regions.events.of(function)
        if events.boundaries or index.reads.inside(function) or index.regions.runs_module(function):
            return False
        calls = index.tree.nodes_in(function, ast.Call, functions=False)
        return index.is_device_tensor(value) and any(index.kind(item) is Kind.TENSOR for item in calls)

    def _is_cut(self, tensor: ast.expr) -> bool:
        """Whether an expression is a part of a tensor, a graph of its own: measured with ``x[2].item()``.

        What was only taken for a tensor may be a list or a tuple of them.
        """
        if not isinstance(tensor, ast.Subscript) or is_text(tensor.slice):
            return False
        value = self._index.value(tensor.value)
        return value.kind is Kind.TENSOR and value.certain and value.side is Side.DEVICE

    def _is_behind(self, node: ast.AST, call: ast.AST) -> bool:
        """Whether a node stands behind a call, in the same block or deeper."""
        tree = self._index.tree
        statement = tree.statement_of(call)
        suite = tree.suite_of(statement)
        later = suite[tree.position_of(statement) + 1 :]
        return any(tree.encloses(item, node) for item in later)

    def _boundary_places(self, loop: Step) -> list[ast.stmt]:
        if loop.node not in self._places:
            self._places[loop.node] = [] if loop.boundaries else self._index.turns.boundary_places(loop)
        return self._places[loop.node]

    def _passes_in_front(self, statement: ast.stmt, loop: Step, places: list[ast.stmt]) -> bool | None:
        """What came last in front of a statement, in its block: the boundary (True), work of the step (False), neither.

        Every statement of the block is looked at once, however many stand behind it and ask.
        """
        suite = self._index.tree.suite_of(statement)
        first = at = self._index.tree.position_of(statement)
        found: bool | None = None
        while at > 0 and (loop.node, suite[at]) not in self._last_seen:
            found = self._passes_or_works(suite[at - 1], loop, places)
            if found is not None:
                break
            at -= 1
        if found is None:
            found = self._last_seen.get((loop.node, suite[at]))
        for behind in suite[at : first + 1]:
            self._last_seen[loop.node, behind] = found
        return found

    def _is_handed_in_front(self, statement: ast.stmt) -> bool:
        """Whether something in front of a statement, in its block, is given a module to run: the step has begun."""
        suite = self._index.tree.suite_of(statement)[: self._index.tree.position_of(statement)]
        return any(isinstance(item, ast.Assign) and self._index.regions.hands_module_on(item) for item in suite)

    def _passes_or_works(self, statement: ast.stmt, loop: Step, places: list[ast.stmt]) -> bool | None:
        if statement in places or self._passes_boundary(statement, loop, places):
            return True
        if self._trains(statement, loop):
            return False
        if not self._index.regions.runs_module(statement):
            return None
        if isinstance(statement, LOOPS):
            return self._ends_turns(statement)
        # What runs now and then, a sample of images, is no part of what the step was recorded for.
        is_rare = isinstance(statement, ast.If) and self._index.pace_of(statement.body[0]) is not Pace.STEP
        return None if is_rare else False

    def _ends_turns(self, inner: LoopNode) -> bool:
        """Whether each turn of a loop within the step comes last to a boundary of its own."""
        boundaries, regions = self._index.regions.boundaries_in(inner), self._index.regions
        for statement in reversed(inner.body):
            if any(self._index.statement_of(boundary) is statement for boundary in boundaries):
                return True
            if regions.runs_module(statement):
                return False
        return False

    def _calls_are_behind(self, function: FunctionNode, loop: Step, depth: int) -> bool:
        index = self._index
        calls = index.definitions.calls_of(function)
        if not calls:  # handed on: as a partial, as a parameter
            calls = [call for call in index.calls if function in index.regions.events.functions_of(call)]
        calls = [call for call in calls if index.step_loop_of(call) is loop]
        return bool(calls) and all(self.is_behind_boundary(call, loop, depth + 1) for call in calls)

    def _passes_boundary(self, node: ast.AST, loop: Step, places: list[ast.stmt]) -> bool:
        """Whether running a node runs a boundary of the loop, or passes where one belongs, in it or by a call."""
        tree, events = self._index.tree, self._index.regions.events
        if any(tree.encloses(node, boundary) for boundary in loop.boundaries):
            return True
        holders = {tree.function_of(place) for place in places if not tree.encloses(loop.node, place)}
        for inner in (node, *tree.nodes_in(node, ast.Call, functions=False)):
            if isinstance(inner, ast.Call):
                function = self._index.definitions.function_run(inner)
                if function is None:
                    continue
                if events.of(function).boundaries or not holders.isdisjoint({function, *events.of(function).functions}):
                    return True
        return False

    def _trains(self, statement: ast.stmt, loop: Step) -> bool:
        events = (*loop.backwards, *loop.updates, *loop.manual_updates)
        return any(self._index.tree.encloses(statement, event) for event in events)

    def boundary_statement(self, loop: Step) -> ast.Expr | None:
        """The one statement ``torch_xla.sync()`` that every turn comes to; there may be others within blocks.

        Where a block that opens now and then holds the whole step, the turns with a step count.
        """
        found = [self.sync_statement(boundary) for boundary in loop.boundaries]
        events = (*loop.backwards, *loop.updates, *loop.manual_updates)
        plain = [item for item in found if item is not None and self._is_plain(item, loop.node, events)]
        return plain[0] if len(plain) == 1 and None not in found else None

    def evaluation_boundary(self, node: LoopNode) -> ast.Expr | None:
        """The one statement ``torch_xla.sync()`` that every turn of an evaluation loop comes to."""
        found = [self.sync_statement(boundary) for boundary in self._index.regions.boundaries_in(node)]
        plain = [item for item in found if item is not None and self._is_plain(item, node)]
        return plain[0] if len(plain) == 1 and None not in found else None

    def sync_statement(self, boundary: ast.AST) -> ast.Expr | None:
        """The statement of a boundary that is a call for nothing else (but an update)."""
        statement = self._index.statement_of(boundary)
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            return None
        if self._index.qualified_name(statement.value.func) in (*SYNCS, OPTIMIZER_STEP):
            return statement
        return None

    def _is_plain(self, statement: ast.Expr, loop: LoopNode | FunctionNode, events: tuple[ast.AST, ...] = ()) -> bool:
        """Whether every turn that goes well, or every one with these events, comes to a statement."""
        tree = self._index.tree
        child: ast.stmt = statement
        holder = tree.parent(child)
        while isinstance(holder, ast.With | ast.AsyncWith | ast.Try | ast.If):
            suite = tree.suite_of(child)
            if isinstance(holder, ast.If):
                if not events or not all(any(tree.encloses(item, event) for item in suite) for event in events):
                    return False
            elif suite is not holder.body:
                return False
            child, holder = holder, tree.parent(holder)
        return holder is loop or isinstance(holder, FUNCTIONS)

    # ---------------------------------------------------------------- what can be moved

    def movable(self, statements: list[ast.stmt], boundary: ast.stmt) -> list[ast.stmt]:
        """Those of these statements that can move behind the boundary, and what has to move along, in order."""
        suite = self._index.tree.suite_of(boundary)
        moved: list[ast.stmt] = []
        for statement in statements:
            if statement not in moved and statement in suite[: suite.index(boundary)]:
                moved = self._with(moved, statement, suite[: suite.index(boundary)]) or moved
        return moved

    def _with(self, moved: list[ast.stmt], statement: ast.stmt, front: list[ast.stmt]) -> list[ast.stmt] | None:
        """One more statement that moves, and what moves along with it; None when it cannot."""
        chosen = {*moved, statement}
        first = min(front.index(item) for item in chosen)
        return self._split(front[first:], chosen, frozenset())

    def _split(
        self, statements: list[ast.stmt], chosen: set[ast.stmt], given: frozenset[Path]
    ) -> list[ast.stmt] | None:
        """What moves, if these do and ``given`` is only there behind the boundary; None when that is not possible."""
        from tpulint.semantic.effects import meet

        effects = self._index.effects
        moved: list[ast.stmt] = []
        stays: list[ast.stmt] = []
        for item in statements:
            effect = effects.of(item)
            along = meet(effect.reads, given | effects.changed_by(moved)) or (bool(moved) and effect.is_output)
            (moved if item in chosen or along else stays).append(item)
        for item in moved:
            later = [other for other in stays if statements.index(other) > statements.index(item)]
            leaves = any(map(self._index.tree.may_leave, later))
            if leaves or not effects.of(item).is_movable or effects.clash(item, later, given):
                return None
        return moved

    def may_change(self, statements: list[ast.stmt], nodes: list[ast.expr]) -> bool:
        """Whether statements may change what expressions read, so that these cannot be asked in front of them."""
        from tpulint.semantic.effects import meet

        return meet(self._index.effects.read_by(nodes), self._index.effects.changed_by(statements))

    def dependents(self, statement: ast.Assign, boundary: ast.stmt) -> list[ast.stmt] | None:
        """Statements in front of the boundary that need the number a statement gives to a variable.

        They can move behind the boundary while the statement itself stays, with the tensor in place of the number. None
        when they cannot move.
        """
        suite = self._index.tree.suite_of(boundary)
        if statement not in suite or not isinstance(statement.targets[0], ast.Name):
            return None
        given = frozenset({(statement.targets[0].id,)})
        between = suite[suite.index(statement) + 1 : suite.index(boundary)]
        if any(self._index.effects.of(item).binds & given or self._index.tree.may_leave(item) for item in between):
            return None
        return self._split(between, set(), given)

    def mutated_between(self, boundary: ast.stmt, statement: ast.stmt) -> set[str]:
        """Names of objects that may change between a boundary and a later statement, in its block or deeper."""
        between = self._between(boundary, statement)
        return {path[0] for item in between for path in self._index.effects.of(item).changes}

    def trains_between(self, boundary: ast.stmt, statement: ast.stmt) -> bool:
        """Whether weights or their gradients may change between a boundary and a later statement."""
        return any(map(self._index.effects.trains, self._between(boundary, statement)))

    def _between(self, boundary: ast.stmt, statement: ast.stmt) -> list[ast.stmt]:
        tree, suite = self._index.tree, self._index.tree.suite_of(boundary)
        between: list[ast.stmt] = []
        while statement not in suite:
            inner = tree.suite_of(statement)
            between += inner[: inner.index(statement)]
            statement = tree.statement_of(tree.parents[statement])
        return between + suite[suite.index(boundary) + 1 : suite.index(statement)]
