"""Places in the turns of a step loop that are in the middle of a step: a boundary there cuts its graph in two."""

from __future__ import annotations

import ast

from tpulint.semantic.loops.regions import Step
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class StepCuts:
    """Answers for the step loops of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def part(self, step: Step, place: int) -> str | None:
        """What a boundary at a place in the body of a step's loop stands between; None where no step is under way."""
        index, suite = self._index, step.node.body
        updates = [at for at, statement in enumerate(suite) if index.regions.updates_in(statement)]
        backwards = [
            at
            for at, statement in enumerate(suite)
            if any(index.tree.encloses(statement, call) for call in step.backwards)
        ]
        if not updates or not backwards or any(isinstance(suite[at], ast.If) for at in (*updates, *backwards)):
            return None  # some turns only add up gradients
        begun = max((at for at in updates if at < place), default=-1)
        ended = min((at for at in updates if at > place), default=None)
        if ended is None:
            return None
        passes = [at for at in backwards if begun < at <= ended]
        if any(at < place for at in passes):
            return "`backward()` and the update" if not any(at > place for at in passes) else None
        forward = any(self._runs_model(statement) for statement in suite[begun + 1 : place])
        return (
            "the forward and the backward pass"
            if forward and passes and self._uses(suite, begun, place, passes)
            else None
        )

    def _runs_model(self, statement: ast.stmt) -> bool:
        return any(
            isinstance(node, ast.Call)
            and self._index.kind(node.func) is Kind.MODULE
            and self._index.regions.records_gradient(node)
            for node in self._index.tree.inside(statement, functions=False)
        )

    def _uses(self, suite: list[ast.stmt], begun: int, place: int, passes: list[int]) -> bool:
        """Whether the backward pass begins at what was computed in front of the boundary."""
        bound = {
            node.id
            for statement in suite[begun + 1 : place]
            for node in self._index.tree.inside(statement, functions=False)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        return any(
            isinstance(node, ast.Name) and node.id in bound
            for at in passes
            for node in self._index.tree.inside(suite[at], functions=False)
        )
