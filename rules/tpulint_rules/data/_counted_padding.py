"""Padding that nothing tells from data: with more of it another model is trained, or the model has no place for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability
from tpulint.semantic import SemanticIndex
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.origins import written_at
from tpulint.semantic.values.value import is_none
from tpulint_rules.data._open_paddings import MULTIPLE

_LEAVES_OUT = re.compile(r"(?i)mask|ignore_index|pack_padded|lengths|(?:^|_)lens$")
"""Names by which a model, or a loss, is told of padding."""
_LIMIT = re.compile(r"(?i)max|most|limit|trunc|len")
"""Names of lengths that samples are cut to."""
_SHORT = 8
"""Slices that end there choose a few of something."""
_IGNORED = "-100"
"""The label that cross entropies of torch leave out unless they are told of another."""
_COUNTED = "Nothing in the file leaves padding out of the model or the loss: more padding would train another model."
_CUT = "Samples are cut to a length that is no multiple: the model may have no place for more."


def leave_where_counted(ctx: FileContext, fix: FixBuilder, call: ast.expr, is_within: bool = False) -> FixBuilder:
    """Only show a fix that adds padding, where nothing in sight leaves padding out, or the samples are cut shorter.

    What stays ``within`` the length that samples are cut to needs no other.
    """
    if not _is_left_out(ctx.index, call):
        fix.lower(Applicability.DISPLAY, _COUNTED)
    elif not is_within and not all(_is_multiple(ctx.index, limit) for limit in _limits(ctx.index, call)):
        fix.lower(Applicability.DISPLAY, _CUT)
    return fix


def _is_left_out(index: SemanticIndex, call: ast.expr) -> bool:
    """Whether a mask, lengths or labels that do not count are used beside the function that fills up.

    A file that only makes batches gives them with the batch.
    """
    module, maker = index.tree.module, index.function_of(call)
    if maker is not None and any(index.tree.encloses(maker, node) for node in index.tree.attributes_called("backward")):
        maker = None  # the batch is used where it is filled up
    if any(_tells(node) for node in index.tree.inside(module) if maker is None or not index.tree.encloses(maker, node)):
        return True
    is_used_here = index.step_loops or index.mentions(r"\bdef forward\b|\.backward\(")
    return maker is not None and not is_used_here and any(map(_tells, _given(index, maker)))


def _given(index: SemanticIndex, maker: ast.AST) -> Iterator[ast.AST]:
    """All that the values which a function gives are made of."""
    for node in index.tree.nodes_in(maker, ast.Return, ast.Yield):
        value = node.value if isinstance(node, ast.Return | ast.Yield) else None
        bindings = index.flow.reaching(value) if isinstance(value, ast.Name) else ()  # `output = ids, mask`
        for given in (value, *(binding.value for binding in bindings)):
            if given is not None:
                yield from (given, *index.tree.inside(given))


def _tells(node: ast.AST) -> bool:
    """``mask`` where it is read, ``batch["attention_mask"]``, ``masked_fill``, ``ignore_index=0``, ``net(**batch)``."""
    if isinstance(node, ast.Name | ast.Attribute):
        name = node.id if isinstance(node, ast.Name) else node.attr
        return isinstance(node.ctx, ast.Load) and _LEAVES_OUT.search(name) is not None
    if isinstance(node, ast.keyword):
        is_whole = node.arg is None and isinstance(node.value, ast.Name | ast.Call)
        return is_whole or (_LEAVES_OUT.search(node.arg or "") is not None and not is_none(node.value))
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return isinstance(key, str) and _LEAVES_OUT.search(key) is not None
    is_number = isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
    return is_number and ast.unparse(node) == _IGNORED


def _limits(index: SemanticIndex, call: ast.expr) -> Iterator[ast.expr]:
    """What samples are cut to: ``max_length`` of a tokenizer, the end of a slice where batches or samples are made."""
    maker = index.function_of(call)
    for node in index.tree.inside(index.tree.module):
        if isinstance(node, ast.keyword) and node.arg == "max_length" and not is_none(node.value):
            yield node.value
        elif isinstance(node, ast.Slice) and node.upper is not None and node.lower is None:
            function = index.function_of(node)
            is_sample = function is not None and function.name == "__getitem__"
            if (is_sample or function is maker) and _is_limit(index, node.upper):
                yield node.upper


def _is_limit(index: SemanticIndex, end: ast.expr) -> bool:
    """Whether a slice ends at a number, or at what is called a limit and was no length of the batch itself."""
    if isinstance(end, ast.Constant):
        return isinstance(end.value, int) and end.value > _SHORT
    is_made_here = isinstance(end, ast.Name) and any(one.kind != "parameter" for one in index.flow.reaching(end))
    is_outside = not is_made_here or (isinstance(end, ast.Name) and isinstance(written_at(index, end), ast.Constant))
    return is_outside and _LIMIT.search(last_name(end)) is not None


def _is_multiple(index: SemanticIndex, limit: ast.expr) -> bool:
    """Whether a length is known, and a multiple of that which batches are filled up to."""
    written = written_at(index, limit)
    number = written.value if isinstance(written, ast.Constant) else None
    return isinstance(number, int) and number % MULTIPLE == 0
