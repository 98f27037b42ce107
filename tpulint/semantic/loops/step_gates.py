"""Gates that hold all of a step, ``if t % 4 == 0: learn()``: in turns without one nothing trains."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tpulint.semantic.loops.events import EventMap
from tpulint.semantic.loops.gates import Gates
from tpulint.semantic.loops.steps import Step
from tpulint.semantic.syntax.tree import SyntaxTree


def gates_of_steps(tree: SyntaxTree, gates: Gates, events: EventMap, steps: Iterable[Step]) -> set[ast.stmt]:
    """Those of these steps, in their loops and in the functions that they run."""
    found: set[ast.stmt] = set()
    for step in steps:
        updates = {*step.updates, *step.manual_updates}
        whole = updates or {*step.backwards}
        for holder in (step.node, *step.functions):
            for branch in tree.nodes_in(holder, ast.If, functions=False):
                if branch in gates.skipped.exits:
                    gate, block = gates.skipped.exits[branch], gates.skipped.behind(branch)
                else:
                    side = gates.side_of(branch)
                    if side is None:
                        continue
                    gate, block = branch, side
                beside = [*branch.body, *_beside(tree, branch, holder)]
                others = [statement for statement in beside if statement not in block]
                if whole <= _done_by(events, block) and not whole & _done_by(events, others):
                    found.add(gate)
    return found


def _beside(tree: SyntaxTree, branch: ast.If, holder: ast.AST) -> list[ast.stmt]:
    """The statements that a loop or function runs beside a branch, those of its other way included."""
    found: list[ast.stmt] = [*branch.orelse]
    statement: ast.AST = branch
    while statement is not holder and isinstance(statement, ast.stmt):
        found += [other for other in tree.suite_of(statement) if other is not statement]
        statement = tree.parents[statement]
    return found


def _done_by(events: EventMap, block: list[ast.stmt]) -> set[ast.AST]:
    done = map(events.events_in, block)
    return {event for one in done for event in (*one.backwards, *one.updates, *one.manual_updates, *one.candidates)}
