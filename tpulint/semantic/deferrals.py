"""Reads and the step boundary: which reads stand behind it, and which statements can be moved there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpulint.semantic.events import OPTIMIZER_STEP, SYNCS
from tpulint.semantic.kinds import Kind
from tpulint.semantic.reads import Read
from tpulint.semantic.regions import StepLoop
from tpulint.semantic.tree import FUNCTIONS, FunctionNode, LoopNode

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 3
_STEP_METHODS = ("backward", "step", "zero_grad", "unscale_", "requires_grad_")


class Deferrals:
    """Order of reads and boundaries in the turns of step loops."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    # ---------------------------------------------------------------- where reads stand

    def reads_of(self, loop: StepLoop) -> list[Read]:
        """Host reads in the turns of a step loop, those in functions it calls included, in order of position."""
        index = self._index
        found = [read for holder in (loop.node, *loop.functions) for read in index.reads.inside(holder)]
        mine = {read.node: read for read in found if index.step_loop_of(read.node) is loop}
        return sorted(mine.values(), key=lambda read: index.span(read.node))

    def is_behind_boundary(self, node: ast.AST, loop: StepLoop, depth: int = 0) -> bool:
        """Whether a node runs behind the step boundary of its turn; in a loop without one, behind where it belongs.

        What runs before anything of the step was recorded is behind the boundary of the turn before.
        """
        tree = self._index.tree
        function = tree.function_of(node)
        if function is not None and self._index.regions.is_gated(function):
            return depth < _DEPTH and self._calls_are_behind(function, loop, depth)
        fresh = True
        places = [] if loop.boundaries else self._index.turns.boundary_places(loop)
        if self._passes_boundary(node, loop, places):
            return True
        child = tree.statement_of(node)
        while True:
            suite = tree.suite_of(child)
            at = suite.index(child)
            for statement in reversed(suite[:at]):
                if statement in places or self._passes_boundary(statement, loop, places):
                    return True
                if self._trains(statement, loop) or self._index.regions.runs_module(statement):
                    fresh = False
                    break
            holder = tree.parents[child]
            while isinstance(holder, ast.ExceptHandler | ast.match_case):
                holder = tree.parents[holder]
            if holder is loop.node:
                return fresh and depth > 0
            if isinstance(holder, ast.Module):
                return False
            if isinstance(holder, FUNCTIONS):
                return fresh and depth < _DEPTH and self._calls_are_behind(holder, loop, depth)
            if not isinstance(holder, ast.stmt):
                return False
            child = holder

    def _calls_are_behind(self, function: FunctionNode, loop: StepLoop, depth: int) -> bool:
        calls = [call for call in self._index.definitions.calls_of(function) if self._index.step_loop_of(call) is loop]
        return bool(calls) and all(self.is_behind_boundary(call, loop, depth + 1) for call in calls)

    def _passes_boundary(self, node: ast.AST, loop: StepLoop, places: list[ast.stmt]) -> bool:
        """Whether running a node runs a boundary of the loop, or passes where one belongs, in it or by a call."""
        tree, events = self._index.tree, self._index.regions.events
        if any(tree.encloses(node, boundary) for boundary in loop.boundaries):
            return True
        holders = {tree.function_of(place) for place in places if not tree.encloses(loop.node, place)}
        for inner in (node, *tree.inside(node, functions=False)):
            if isinstance(inner, ast.Call):
                function = self._index.definitions.function_called(inner)
                if function is None:
                    continue
                if events.of(function).boundaries or not holders.isdisjoint({function, *events.of(function).functions}):
                    return True
        return False

    def _trains(self, statement: ast.stmt, loop: StepLoop) -> bool:
        events = (*loop.backwards, *loop.updates, *loop.manual_updates)
        return any(self._index.tree.encloses(statement, event) for event in events)

    def boundary_statement(self, loop: StepLoop) -> ast.Expr | None:
        """The one statement ``torch_xla.sync()`` that every turn comes to; there may be others within blocks."""
        found = [self._sync(boundary) for boundary in loop.boundaries]
        plain = [item for item in found if item is not None and self._is_plain(item, loop.node)]
        return plain[0] if len(plain) == 1 and None not in found else None

    def evaluation_boundary(self, node: LoopNode) -> ast.Expr | None:
        """The one statement ``torch_xla.sync()`` that ends every turn of an evaluation loop."""
        found = [self._sync(boundary) for boundary in self._index.regions.boundaries_in(node)]
        return found[0] if len(found) == 1 and found[0] is not None and self._is_plain(found[0], node) else None

    def _sync(self, boundary: ast.AST) -> ast.Expr | None:
        """The statement of a boundary that is a call for nothing else (but an update)."""
        statement = self._index.statement_of(boundary)
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            return None
        if self._index.qualified_name(statement.value.func) in (*SYNCS, OPTIMIZER_STEP):
            return statement
        return None

    def _is_plain(self, statement: ast.Expr, loop: LoopNode) -> bool:
        """Whether every turn that goes well comes to a statement."""
        tree = self._index.tree
        child: ast.stmt = statement
        holder = tree.parent(child)
        while isinstance(holder, ast.With | ast.AsyncWith | ast.Try) and tree.in_body(holder, child):
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
        result: list[ast.stmt] = []
        stays: list[ast.stmt] = []
        for item in front[first:]:
            along = self._reads_names(item) & self._binds(result) or self._is_output(item)
            (result if item in chosen or along else stays).append(item)
        if not all(self._is_movable(item) for item in result):
            return None
        for item in result:
            later = [other for other in stays if front.index(other) > front.index(item)]
            if later and self._clashes(item, later):
                return None
        return result

    def _clashes(self, moved: ast.stmt, stays: list[ast.stmt]) -> bool:
        """Whether a statement does something else, or lets others do so, when it runs behind them."""
        read = {name for item in stays for name in self._reads_names(item)}
        bound = self._binds(stays)
        if self._binds([moved]) & (bound | read) or self._reads_names(moved) & (bound | self._mutates(stays)):
            return True
        changed = self._changed(moved)
        return bool(changed) and any(
            self._index.text(node) in changed
            for item in stays
            for node in self._index.tree.inside(item, functions=False)
            if isinstance(node, ast.Name | ast.Attribute)
        )

    def _changed(self, statement: ast.stmt) -> set[str]:
        """What a statement may change by a method, as written: ``self.history`` by ``self.history.append(x)``."""
        index = self._index
        return {
            index.text(node.func.value)
            for node in (statement, *index.tree.inside(statement, functions=False))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if isinstance(node.func.value, ast.Attribute | ast.Name) and index.qualified_name(node.func) is None
            if index.kind(node.func.value) is not Kind.TENSOR and index.text(node.func.value) not in ("self", "cls")
        }

    def dependents(self, statement: ast.Assign, boundary: ast.stmt) -> list[ast.stmt] | None:
        """Statements in front of the boundary that need the number a statement gives to a variable.

        They can move behind the boundary while the statement itself stays, with the tensor in place of the number. None
        when they cannot move.
        """
        tree = self._index.tree
        if tree.parents[statement] is not tree.parents[boundary] or not isinstance(statement.targets[0], ast.Name):
            return None
        suite = tree.suite_of(boundary)
        between = suite[suite.index(statement) + 1 : suite.index(boundary)]
        name = statement.targets[0].id
        moved: list[ast.stmt] = []
        for other in between:
            if self._reads_names(other) & ({name} | self._binds(moved)) or (moved and self._is_output(other)):
                moved.append(other)
        stays = [other for other in between if other not in moved]
        if not all(self._is_movable(item) for item in moved):
            return None
        read_by_rest = {needed for item in stays for needed in self._reads_names(item)}
        if name in self._binds(stays) or self._binds(moved) & (self._binds(stays) | read_by_rest | {name}):
            return None
        needed = {needed for item in moved for needed in self._reads_names(item)} - {name}
        return None if needed & (self._binds(stays) | self._mutates(stays)) else moved

    def mutated_between(self, boundary: ast.stmt, statement: ast.stmt) -> set[str]:
        """Names of objects that may change behind a boundary and in front of a later statement of its block."""
        suite = self._index.tree.suite_of(boundary)
        return self._mutates(suite[suite.index(boundary) + 1 : suite.index(statement)])

    def _is_output(self, statement: ast.stmt) -> bool:
        nodes = (statement, *self._index.tree.inside(statement, functions=False))
        return any(isinstance(node, ast.Call) and self._index.reads.is_output(node) for node in nodes)

    def _is_movable(self, statement: ast.stmt) -> bool:
        """Whether running a statement a little later only changes when its effect is seen."""
        nodes = (statement, *self._index.tree.inside(statement, functions=False))
        if any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in nodes):
            return False  # gradients may be cleared in between
        if any(isinstance(node, ast.Call) and self._trains_by(node) for node in nodes):
            return False
        if isinstance(statement, ast.If | ast.For):
            return all(self._is_movable(item) for item in (*statement.body, *statement.orelse))
        if isinstance(statement, ast.With):
            # The body runs no module, or it would be part of the step.
            return all(self._is_movable(item) for item in statement.body)
        if isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign):
            return not any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Await) for node in nodes)
        return False

    def _trains_by(self, call: ast.Call) -> bool:
        """Whether a call is part of the step: runs a module, a backward pass, or anything of an optimizer."""
        index = self._index
        if index.kind(call.func) is Kind.MODULE:
            return True
        if not isinstance(call.func, ast.Attribute):
            return False
        return call.func.attr in _STEP_METHODS or index.kind(call.func.value) in (
            Kind.MODULE,
            Kind.OPTIMIZER,
            Kind.SCALER,
        )

    def _reads_names(self, statement: ast.stmt) -> set[str]:
        nodes = self._index.tree.inside(statement, functions=True)
        names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            names.add(statement.target.id)
        return names

    def _binds(self, statements: list[ast.stmt]) -> set[str]:
        result: set[str] = set()
        for statement in statements:
            for node in self._index.tree.inside(statement, functions=True):
                if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                    result.add(node.id)
        return result

    def _mutates(self, statements: list[ast.stmt]) -> set[str]:
        """Names of objects that these statements may change: receivers and arguments of calls, targets of stores."""
        index = self._index
        result: set[str] = set()
        for statement in statements:
            for node in index.tree.inside(statement, functions=False):
                if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
                    result |= _root(node)
                if not isinstance(node, ast.Call):
                    continue
                if isinstance(node.func, ast.Attribute) and index.qualified_name(node.func) is None:
                    receiver = index.value(node.func.value)
                    if receiver.kind is not Kind.TENSOR or node.func.attr.endswith("_"):
                        result |= _root(node.func.value)
                if index.regions.updates_in(index.statement_of(node)):
                    # An update changes every module, wherever it is mentioned.
                    result |= {name.id for name in index.tree.names if index.kind(name) is Kind.MODULE}
        return result


def _root(node: ast.expr) -> set[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()
