"""What is made beside a part of a batch and is as wide as the longest sample: it would not fit a part that is wider."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability
from tpulint.semantic import FunctionNode, SemanticIndex
from tpulint.semantic.batches.collating import with_called
from tpulint_rules.data._open_paddings import MULTIPLE, PAD_SEQUENCE, pads_longest

_MOST = 12
"""Functions that a batch is followed through."""
_BESIDE = "Something that goes with the batch is as long as the longest sample itself, and would not fit a wider batch."


def leave_where_unrounded(
    ctx: FileContext, fix: FixBuilder, longest: ast.expr, is_another: Callable[[ast.expr], bool]
) -> FixBuilder:
    """Only show a fix that makes batches wider where something beside them is made as wide as their longest sample.

    ``mask = torch.arange(max(lengths)) < lengths[:, None]``, ``labels = pad_sequence(labels)``
    """
    index = ctx.index
    makers = _makers_around(index, longest)
    others = [call for maker in makers for call in _calls_in(index, maker) if is_another(call)]
    others += (call for call in _calls_beside(index, makers) if _is_padded_otherwise(index, call))
    if any(call is not longest and not index.tree.encloses(longest, call) for call in others):
        fix.lower(Applicability.DISPLAY, _BESIDE)
    return fix


def leave_beside_sequence(ctx: FileContext, fix: FixBuilder, padding: ast.Call) -> FixBuilder:
    """Only show such a fix beside what nothing makes any wider: ``labels = pad_sequence(labels)``."""
    makers = _makers_around(ctx.index, padding)
    if any(_is_of_sequence(ctx.index, call) for call in _calls_beside(ctx.index, makers)):
        fix.lower(Applicability.DISPLAY, _BESIDE)
    return fix


def makers_of(index: SemanticIndex, part: FunctionNode) -> list[FunctionNode]:
    """A function that fills samples up, and those of the file that make a batch of what it gives."""
    waiting, found = [part], list[FunctionNode]()
    while waiting and len(found) < _MOST:
        function = waiting.pop()
        if function in found:
            continue
        found.append(function)
        callers = map(index.tree.function_of, index.definitions.calls_of(function))
        waiting.extend(caller for caller in callers if caller is not None)
    return found


def _makers_around(index: SemanticIndex, node: ast.expr) -> list[FunctionNode]:
    """The functions that make the batch which an expression is the width of."""
    around = index.function_of(node)
    return [] if around is None else makers_of(index, around)


def _calls_beside(index: SemanticIndex, makers: list[FunctionNode]) -> Iterator[ast.Call]:
    """Calls in these functions, and in those of the file that they call."""
    seen: set[ast.AST] = set()
    for maker in makers:
        for function in with_called(index, maker, seen):
            yield from _calls_in(index, function)


def _calls_in(index: SemanticIndex, function: FunctionNode | ast.Lambda) -> Iterator[ast.Call]:
    yield from (node for node in index.tree.nodes_in(function, ast.Call) if isinstance(node, ast.Call))


def _is_padded_otherwise(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether a call pads to the longest sample, or to multiples of another number than batches are filled up to."""
    multiples = [item.value for item in call.keywords if item.arg == "pad_to_multiple_of"]
    is_other = any(not isinstance(one, ast.Constant) or one.value != MULTIPLE for one in multiples)
    return is_other or _is_of_sequence(index, call) or pads_longest(index, call)


def _is_of_sequence(index: SemanticIndex, call: ast.Call) -> bool:
    return index.qualified_name(call.func) == PAD_SEQUENCE
