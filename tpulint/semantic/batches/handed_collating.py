"""What makes batches and is given to those that make loaders: ``config.make(samples, collate_fn=fill)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.semantic.project.outside import EVALUATION, STEP
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_COLLATE = "collate_fn"
_TRAINING = "train"
_OTHERS = r"(?:^|_)(?:val|test|dev(?!ice)|eval|pred)"
"""How words in the names of loaders begin that no training takes its batches from."""


def handed_collating(index: SemanticIndex) -> Iterator[tuple[ast.expr, str]]:
    """What calls that are no loaders themselves are given as ``collate_fn``, with what the turns are called.

    Of a call that loops of training and of evaluation take their batches from, both.
    """
    if _COLLATE not in index.source.text:
        return
    loaders = {loader.call for loader in index.loaders.all}
    given = {
        call: keyword.value
        for call in index.tree.calls
        for keyword in call.keywords
        if keyword.arg == _COLLATE and call not in loaders
    }
    taken = _taken(index) if given else {}
    for call, value in given.items():
        turns = taken.get(call) or _turns_of_function(index, call) or _turns_by_name(index, call)
        yield from ((value, turn) for turn in sorted(turns, reverse=True))


def _taken(index: SemanticIndex) -> dict[ast.Call, set[str]]:
    """What loops take their batches from, with what their turns are called."""
    loaders = index.loaders
    found: dict[ast.Call, set[str]] = {}
    if _may_reach_device(index):
        for loop in index.step_loops:
            for call in loaders.makers_of(loop.node, loop.functions):
                found.setdefault(call, set()).add(STEP)
        for quiet in index.regions.evaluation_loops:
            for call in loaders.makers_of(quiet):
                found.setdefault(call, set()).add(EVALUATION)
    given = [(source.node, source.turn) for source in loaders.sources.asked_for if not source.path]
    for node, turn in (*given, *loaders.sources.of_lightning):
        for call in loaders.behind([node]):
            found.setdefault(call, set()).add(turn)
    return found


def _turns_of_function(index: SemanticIndex, call: ast.Call) -> set[str]:
    """What the turns are called that take their batches from loaders of the function of this file that is called."""
    function = index.definitions.function_called(call)
    made = [one for one in index.loaders.of_device if function is not None and index.tree.encloses(function, one.call)]
    trained = {STEP for one in made if one.feeds}
    return trained | {EVALUATION for one in made if one.feeds_evaluation}


def _turns_by_name(index: SemanticIndex, call: ast.Call) -> set[str]:
    """What a file that trains calls a loader, ``train_loader = config.make(...)``: it may be handed on to its loop."""
    statement = index.statement_of(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is call else None
    if target is None or not index.step_loops or not _may_reach_device(index):
        return set()
    name = last_name(target).lower()
    is_other = re.search(_OTHERS, name) is not None
    return (set() if is_other else {STEP}) if _TRAINING in name else {EVALUATION} if is_other else set()


def _may_reach_device(index: SemanticIndex) -> bool:
    """Whether batches of the loops of this file may reach a device."""
    return index.kinds.mentions_device or any(True for _ in index.imported.files())
