"""Lengths that go with a batch: who makes a mask of the longest of them expects the batch to be no wider."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability
from tpulint.semantic import FUNCTIONS, SemanticIndex

_UNPACKED = "torch.nn.utils.rnn.pad_packed_sequence"
_LONGEST = ("builtins.max", "torch.max", "torch.amax", "numpy.max")
_REASON = (
    "The lengths go with the batch: a mask that is as wide as the longest of them, or `pad_packed_sequence` without "
    "`total_length`, would not fit it any longer."
)


def leave_where_handed(
    ctx: FileContext, fix: FixBuilder, longest: ast.expr, is_lengths: Callable[[ast.expr], bool]
) -> FixBuilder:
    """Only show a fix that makes batches wider than their ``longest`` sample, where somebody may take that for width.

    Of a program that all stands in one file it is known whether somebody does.
    """
    index = ctx.index
    makers = [maker for maker in index.tree.ancestors(longest) if isinstance(maker, FUNCTIONS)]
    if not makers or not any(map(is_lengths, _handed_on(index, makers[0]))):
        return fix
    is_whole = index.is_program and not index.imported.knows_others
    if not is_whole or next(_widths_of_lengths(index, makers[0]), None) is not None:
        fix.lower(Applicability.DISPLAY, _REASON)
    return fix


def _handed_on(index: SemanticIndex, maker: ast.AST) -> Iterator[ast.expr]:
    """What a function returns or yields, part by part."""
    for node in index.tree.nodes_in(maker, ast.Return, ast.Yield, functions=False):
        value = node.value if isinstance(node, ast.Return | ast.Yield) else None
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
        yield from value.values if isinstance(value, ast.Dict) else (part for part in parts if part is not None)


def _widths_of_lengths(index: SemanticIndex, maker: ast.AST) -> Iterator[ast.Call]:
    """Calls outside of the function that makes the batches, which give the longest of some lengths."""
    for call in index.calls_to(_UNPACKED):
        if not any(item.arg == "total_length" for item in call.keywords):
            yield call
    asked = [(call, call.args[0]) for call in index.calls_to(*_LONGEST) if len(call.args) == 1]
    for call, given in (*asked, *index.method_calls("max", "amax")):
        if "len" in index.text(given).lower() and not index.tree.encloses(maker, call):
            yield call
