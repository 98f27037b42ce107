"""Evaluation loops that are given tensors by functions of other files, which leave them to be computed later on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.records import NamedTuple
from tpulint.semantic import FUNCTIONS, Kind, LoopNode, SemanticIndex, Side
from tpulint.semantic.project.other_files import Definition, returned
from tpulint.semantic.project.outside import EVALUATION


class LeftPending(NamedTuple):
    """What the turns of a loop leave to be computed later on."""

    statement: ast.stmt
    """What gets it from the other file."""
    is_read: bool
    """Whether the other file reads something, which runs what that needs."""


def left_pending(index: SemanticIndex) -> dict[LoopNode, LeftPending]:
    """Loops over batches whose turns get what a model computes in another file, and read nothing themselves.

    ``loss, y = trainer.evaluate(x)`` returns ``loss.item(), y``: the read runs the loss alone, and what nobody reads of
    ``y`` is left to the first training step behind the loop.
    """
    found: dict[LoopNode, LeftPending] = {}
    for loop, driver in index.regions.drivers.loops.items():
        if driver.call.turn != EVALUATION or not index.regions.evaluation.batches.takes_batches(loop):
            continue
        if any(index.regions.gate_in(read.node, loop) is None for read in index.reads.inside(loop)):
            continue
        for call in driver.calls:
            place = _own_statement(index, loop, call)
            for run in index.imported.all_called(call) if place is not None else ():
                if place is not None and _leaves_tensor(run):
                    found[loop] = LeftPending(place, any(True for _ in run.file.reads.inside(run.node)))
    return found


def _own_statement(index: SemanticIndex, loop: LoopNode, call: ast.Call) -> ast.stmt | None:
    """The statement of a loop's own block that keeps what a call gives."""
    return next(
        (one for one in loop.body if isinstance(one, ast.Assign) and index.tree.encloses(one, call)),
        None,
    )


def _leaves_tensor(run: Definition) -> bool:
    """Whether a function returns a tensor of the device beside others, and ends no step itself."""
    if not isinstance(run.node, FUNCTIONS) or run.file.regions.boundaries_in(run.node):
        return False
    values = map(run.file.value, _parts(returned(run)))
    return any(value.kind is Kind.TENSOR and value.side is Side.DEVICE for value in values)


def _parts(values: list[ast.expr]) -> Iterator[ast.expr]:
    for value in values:
        yield from value.elts if isinstance(value, ast.Tuple | ast.List) else (value,)
