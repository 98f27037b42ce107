"""Additions to totals that stand behind the step boundary of their turn, and could stand in front of it.

What is added there on the device is left to the next step, whose graph is another one than that of the first.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.records import NamedTuple
from tpulint.semantic.syntax.nodes import LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class LateAdditions(NamedTuple):
    """Additions of one block that can change places with what stands between them and the work of the turn."""

    passed: list[ast.stmt]
    """The boundary, and what else they would stand in front of, in order."""
    last: ast.stmt
    """The last of the additions."""


def late_additions(index: SemanticIndex, loop: LoopNode, additions: Sequence[ast.stmt]) -> LateAdditions | None:
    """What these additions of a loop should come in front of; None where they stand right, or have to stay."""
    suite, first = _behind_work(index, loop)
    passed: list[ast.stmt] = []
    moved: list[tuple[int, ast.stmt]] = []
    for statement in suite[first:]:
        leaves = any(map(index.tree.may_leave, passed))
        if statement in additions and not leaves and not index.effects.clash(statement, passed):
            moved.append((len(passed), statement))
        else:
            passed.append(statement)
    if not moved or not moved[-1][0]:
        return None
    count, last = moved[-1]
    return LateAdditions(passed[:count], last)


def _behind_work(index: SemanticIndex, loop: LoopNode) -> tuple[list[ast.stmt], int]:
    """The block of the boundary, or of the place where it belongs, and where in it the work of the turn has ended."""
    if loop in index.regions.evaluation_loops:
        boundaries = index.regions.boundaries_in(loop)
        boundary = index.boundaries.sync_of_evaluation(loop)
        places = [] if boundaries else [index.turns.evaluation_place(loop)]
    else:
        step = next((step for step in index.step_loops if step.node is loop), None)
        boundary = None if step is None else index.boundaries.sync_of(step)
        places = [] if step is None or step.boundaries else index.turns.boundary_places(step)
    if boundary is not None:
        suite = index.tree.suite_of(boundary)
        return suite, suite.index(boundary)
    if len(places) != 1:
        return [], 0
    suite = index.tree.suite_of(places[0])
    return suite, suite.index(places[0]) + 1
