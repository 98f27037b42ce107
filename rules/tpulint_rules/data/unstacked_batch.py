"""Batches whose samples stay a list, each with a size of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding, Span
from tpulint.semantic import SemanticIndex
from tpulint.semantic.batches.collating import collate_functions, collating_for_others
from tpulint.semantic.batches.sample_lists import columns_of_samples, list_of_samples
from tpulint.semantic.loops.turn_code import EVALUATION, STEP
from tpulint.semantic.project.other_files import Definition, methods
from tpulint.semantic.syntax.nodes import LoopNode

_MOVES = frozenset({"to", "cuda"})
_JOINS = ("torch.stack", "torch.cat", "torch.nn.utils.rnn.pad_sequence")


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    told: set[ast.AST] = set()
    for columns, turn, source in _columns(index):
        if columns not in told and not _joins_later(index):
            told.add(columns)
            yield ctx.finding(columns, _message(turn), certainty=Certainty.LIKELY, related=source)
    for moved, loop, kept in _moved_one_by_one(index):
        if kept not in told and loop not in told:
            told |= {kept, loop}
            yield ctx.finding(moved, _message(index.turn_code.loops[loop]), certainty=Certainty.LIKELY)


def _message(turn: str) -> str:
    what = "training" if turn == STEP else "evaluation"
    return (
        f"the samples of each {what} batch stay a list, each with a size of its own: "
        "the step is compiled again for each combination that occurs"
    )


def _columns(index: SemanticIndex) -> Iterator[tuple[ast.expr, str, tuple[tuple[Span, str], ...]]]:
    """What collate functions of this file return that join nothing at all."""
    for loader in index.loaders.of_device:
        source = ((index.span(loader.call), "collates its batches with it"),)
        for function in collate_functions(index, loader) if loader.feeds or loader.feeds_evaluation else ():
            columns = columns_of_samples(index, function)
            if columns is not None:
                yield columns, STEP if loader.feeds else EVALUATION, source
    for function, turn in collating_for_others(index):
        columns = columns_of_samples(index, function)
        if columns is not None:
            yield columns, turn, ()


def _joins_later(index: SemanticIndex) -> bool:
    """Whether turns in this file join the samples: ``torch.stack(images)``."""
    return any(index.turn_code.turn_of(call) is not None for call in index.calls_to(*_JOINS))


def _moved_one_by_one(index: SemanticIndex) -> Iterator[tuple[ast.expr, LoopNode, ast.expr]]:
    """Where a turn moves each item of a part of the batch, ``[box.to(device) for box in boxes]``; what makes it one."""
    for node in index.turn_code.nodes(ast.ListComp) if index.loaders.all else ():
        found = _part_moved(index, node)
        for collate in _collates(index, found[0]) if found is not None else ():
            assert found is not None
            kept = list_of_samples(collate, found[1])
            if kept is not None:
                yield node, found[0], kept


def _part_moved(index: SemanticIndex, node: ast.ListComp) -> tuple[LoopNode, int] | None:
    """The loop over batches, and the place in them, of a list each item of which is moved."""
    source, target = node.generators[0].iter, node.generators[0].target
    if not isinstance(source, ast.Name) or not isinstance(target, ast.Name):
        return None
    is_moved = any(
        isinstance(part, ast.Attribute) and part.attr in _MOVES and index.text(part.value) == target.id
        for part in ast.walk(node.elt)
    )
    loops = [loop for loop in index.tree.ancestors(node) if loop in index.turn_code.loops]
    for binding in index.names.bindings(source) if is_moved and loops else ():
        value, path = binding.value, binding.path
        name = index.qualified_name(value.func) if isinstance(value, ast.Call) else None
        if binding.kind == "loop" and name == "builtins.enumerate" and path[:1] == (1,):
            path = path[1:]
        elif binding.kind != "loop" and name != "builtins.next":
            continue
        if len(path) == 1:
            return loops[0], path[0]
    return None


def _collates(index: SemanticIndex, loop: LoopNode) -> Iterator[Definition]:
    makers = set(index.loaders.makers_of(loop))
    for loader in index.loaders.all:
        if loader.call not in makers:
            continue
        for function in collate_functions(index, loader):
            yield Definition(index, function)  # type: ignore[arg-type]
        for value in (loader.arguments or {}).get("collate_fn", ()):
            found = index.imported.definition(value)
            if found is not None:
                yield found
            elif isinstance(value, ast.Attribute):
                yield from methods(index.imported.classes_of(value.value), value.attr)
