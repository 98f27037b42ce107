"""Lengths that go with a batch: who makes a mask of the longest of them expects the batch to be no wider."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability
from tpulint.semantic import FUNCTIONS, FunctionNode, SemanticIndex
from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.syntax.nodes import is_of_self
from tpulint_rules.data._widths_beside import makers_of

_UNPACKED = ("torch.nn.utils.rnn.pad_packed_sequence", "tpulint_runtime.pad_packed_sequence")
_PADDED_RUN = "tpulint_runtime.run_padded"
_OF_PROJECT = ("pad_packed_sequence", "run_padded")
"""Words of files that unpack, and that were ported to leave the batch as wide as it is."""
_LONGEST = ("builtins.max", "torch.max", "torch.amax", "numpy.max")
_REASON = (
    "The lengths go with the batch: a mask that is as wide as the longest of them, or `pad_packed_sequence` without "
    "`total_length`, would not fit it any longer."
)

_CUT = (
    "`pad_packed_sequence` without `total_length` cuts what comes out of a layer to the longest sample, beside which a "
    "batch would be too wide."
)


def leave_where_handed(
    ctx: FileContext, fix: FixBuilder, longest: ast.expr, is_lengths: Callable[[ast.expr], bool]
) -> FixBuilder:
    """Only show a fix that makes batches wider than their ``longest`` sample, where somebody may take that for width.

    Of a program that all stands in one file it is known whether somebody does. What goes with the batch that another
    file makes of this one's part is not.
    """
    index = ctx.index
    within = [maker for maker in index.tree.ancestors(longest) if isinstance(maker, FUNCTIONS)]
    makers = makers_of(index, within[0]) if within else []
    if any(_is_called_for_part(index, maker) for maker in makers):
        fix.lower(Applicability.DISPLAY, _REASON)
    if _cuts_to_longest(index):
        fix.lower(Applicability.DISPLAY, _CUT)
    if not any(map(is_lengths, (part for maker in makers for part in _handed_on(index, maker)))):
        return fix
    is_whole = index.is_program and not index.imported.knows_others
    if not is_whole or next(_widths_of_lengths(index, within[0]), None) is not None:
        fix.lower(Applicability.DISPLAY, _REASON)
    return fix


def _cuts_to_longest(index: SemanticIndex) -> bool:
    """Whether the file, or another one of its project, unpacks to the longest sequence of a batch."""
    if next(_unpacked_to_longest(index), None) is not None:
        return True
    others = (file for word in _OF_PROJECT for file in index.imported.others_mentioning(word))
    return any(
        next(file.calls_to(_PADDED_RUN), None) is not None or next(_unpacked_to_longest(file), None) is not None
        for file in others
    )


def _unpacked_to_longest(index: SemanticIndex) -> Iterator[ast.Call]:
    for call in index.calls_to(*_UNPACKED):
        if not any(item.arg == "total_length" for item in call.keywords):
            yield call


def _is_called_for_part(index: SemanticIndex, maker: FunctionNode) -> bool:
    name = qualified_in_file(index.tree, maker)
    return any(call.function == name and (call.is_part or bool(call.turn)) for call in index.outside)


def _handed_on(index: SemanticIndex, maker: ast.AST) -> Iterator[ast.expr]:
    """What a function returns or yields, or has its object keep, part by part."""
    for node in index.tree.nodes_in(maker, ast.Return, ast.Yield, functions=False):
        value = node.value if isinstance(node, ast.Return | ast.Yield) else None
        yield from _parts_of(value) if value is not None else ()
    for node in index.tree.nodes_in(maker, ast.Assign, functions=False):
        yield from _parts_of(node.value) if any(map(is_of_self, node.targets)) else ()


def _parts_of(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.Tuple | ast.List | ast.Dict):
        for part in value.values if isinstance(value, ast.Dict) else value.elts:
            yield from _parts_of(part)
    else:
        yield value


def _widths_of_lengths(index: SemanticIndex, maker: ast.AST) -> Iterator[ast.Call]:
    """Calls outside of the function that makes the batches, which give the longest of some lengths."""
    yield from _unpacked_to_longest(index)
    asked = [(call, call.args[0]) for call in index.calls_to(*_LONGEST) if len(call.args) == 1]
    for call, given in (*asked, *index.method_calls("max", "amax")):
        if "len" in index.text(given).lower() and not index.tree.encloses(maker, call):
            yield call
