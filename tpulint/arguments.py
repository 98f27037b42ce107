"""Arguments and parameters as they stand in the text: with their own parentheses, and the commas between them."""

from __future__ import annotations

import ast
import re

from tpulint.model import Span
from tpulint.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.nodes import FunctionNode

_COMMENT_ROW = r"\n[ \t]*(?=#)"
_ROW_END = r",?[ \t]*(?:#[^\r\n]*)?"
_INDENT = re.compile(r"[ \t]*")
_BLANK = re.compile(r"(?:[\s\\]|#[^\r\n]*)*")


class Piece(NamedTuple):
    """One argument between the parentheses of its call."""

    span: Span
    """The argument with its own parentheses, without the blanks around it."""
    comma: int | None
    """Offset of the comma behind it."""


def in_order(call: ast.Call) -> list[ast.expr | ast.keyword]:
    """The arguments of a call in order of position."""
    items: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    return sorted(items, key=lambda item: (item.lineno, item.col_offset))


def pieces(index: SemanticIndex, call: ast.Call) -> list[Piece]:
    """One piece for each argument, in order of position.

    Positions come from the tree; between two arguments stand only blanks, comments, parentheses and one comma.
    """
    text, tree = index.source.text, index.tree
    close = tree.end(call) - 1
    at = _skip(text, tree.end(call.func))
    while text[at] == ")":  # the callee stands in parentheses of its own
        at = _skip(text, at + 1)
    at = _skip(text, at + 1)
    result = []
    for item in in_order(call):
        start, end = at, min(tree.end(item), close)  # a lone generator shares the parentheses of its call
        after = _skip(text, end)
        while text[after] == ")" and after < close:
            end = after + 1
            after = _skip(text, end)
        comma = after if text[after] == "," else None
        result.append(Piece(Span(start, end), comma))
        at = _skip(text, after + 1) if comma is not None else after
    return result


def argument_cuts(
    index: SemanticIndex, call: ast.Call, arguments: Sequence[ast.keyword | ast.expr]
) -> list[Span] | None:
    """What to take out so that a call loses these arguments, with their commas; None where one is not its own."""
    found = pieces(index, call)
    gone = [any(item is argument for argument in arguments) for item in in_order(call)]
    if sum(gone) != len(arguments):
        return None
    cuts = []
    for first, last in _runs(gone):
        start, end = found[first].span.start, found[last].span.end
        source = index.source
        begins_row = not source.text[source.line_start(start) : start].strip()
        if last + 1 < len(found):
            # up to the next argument, so that a comment behind the comma is seen (and lowers the fix)
            behind = found[last + 1].span.start
            following = re.compile(_COMMENT_ROW).search(source.text, end, behind) if begins_row else None
            end = behind if following is None else following.end()
        elif first:
            above = Span(found[first - 1].span.end, start)
            rows = source.line_end(above.start), source.line_end(end)
            start = above.start
            told = "#" in source.text[above.start : above.end]
            if begins_row and told and re.compile(_ROW_END).fullmatch(source.text, end, rows[1]):
                start, end = rows  # what stands behind the comma above tells of the argument there
            elif begins_row and told:  # the bracket behind comes to stand on a row of its own
                row = source.line_start(found[first].span.start)
                outer = _indent_at(source.text, source.line_start(index.tree.start(call)))
                start = row + min(outer, _indent_at(source.text, row))
                end = end if (comma := found[last].comma) is None else comma + 1
        elif (comma := found[last].comma) is not None:
            end = comma + 1
        cuts.append(Span(start, end))
    return cuts


def parameter_cuts(index: SemanticIndex, function: FunctionNode, parameters: Sequence[ast.arg]) -> list[Span] | None:
    """What to take out so that a definition loses plain parameters without a default, with their commas.

    None where they are of another kind, or alone in front of one that is.
    """
    tree, arguments = index.tree, function.args
    items = arguments.args
    gone = [any(item is parameter for parameter in parameters) for item in items]
    required = len(items) - len(arguments.defaults)
    if sum(gone) != len(parameters) or any(gone[required:]) or arguments.posonlyargs:
        return None
    cuts = []
    for first, last in _runs(gone):
        if last + 1 < len(items):
            cuts.append(Span(tree.start(items[first]), tree.start(items[last + 1])))
        elif first:
            cuts.append(Span(tree.end(items[first - 1]), tree.end(items[-1])))
        elif arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
            return None
        else:
            cuts.append(Span(tree.start(items[0]), tree.end(items[-1])))
    return cuts


def _runs(gone: Sequence[bool]) -> list[tuple[int, int]]:
    """First and last place of each of the longest rows of things that go."""
    firsts = [at for at, goes in enumerate(gone) if goes and not (at and gone[at - 1])]
    lasts = [at for at, goes in enumerate(gone) if goes and not any(gone[at + 1 : at + 2])]
    return list(zip(firsts, lasts, strict=True))


def _indent_at(text: str, row: int) -> int:
    """How many blanks a row begins with."""
    match = _INDENT.match(text, row)
    assert match is not None
    return match.end() - row


def _skip(text: str, offset: int) -> int:
    """The next offset with neither blanks nor comments."""
    match = _BLANK.match(text, offset)
    assert match is not None
    return match.end()
