"""Choices between two ways that fixes have made one: ``x.to(device) if gpu is None else x.to(device)``."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from tpulint.comments import comment_spans
from tpulint.emptied import only_looks, words
from tpulint.model import Span
from tpulint.semantic.syntax.blocks import is_elif

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.fixes import FixBuilder
    from tpulint.semantic import SemanticIndex

_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)


def twin_choices(before: SemanticIndex, after: SemanticIndex) -> list[ast.If | ast.IfExp]:
    """The outermost choices whose two ways are the same since the fixes, and whose conditions only look."""
    known = Counter(words(choice.test) for choice in _twins(before))
    found: list[ast.If | ast.IfExp] = []
    for choice in _twins(after):
        text = words(choice.test)
        if known[text]:
            known[text] -= 1  # its author wrote it so
        elif only_looks(after, choice.test) and not _has_comment(after, choice):
            found.append(choice)
    return [one for one in found if not any(other is not one and after.tree.encloses(other, one) for other in found)]


def write_one_way(fix: FixBuilder, index: SemanticIndex, choices: list[ast.If | ast.IfExp]) -> None:
    """Write what either way does in place of the choices."""
    fix.fold({choice.test: True for choice in choices if isinstance(choice, ast.If)}).write()
    for choice in choices:
        if isinstance(choice, ast.IfExp):
            fix.replace(_with_parentheses(index, choice), index.text(choice.body))


def _twins(index: SemanticIndex) -> Iterator[ast.If | ast.IfExp]:
    for node in index.tree.parents:
        if isinstance(node, ast.If | ast.IfExp):
            ways = (node.body, node.orelse) if isinstance(node, ast.If) else ([node.body], [node.orelse])
            if _are_same(*ways) and not (isinstance(node, ast.If) and (is_elif(index, node) or _is_nothing(node))):
                yield node


def _is_nothing(choice: ast.If) -> bool:
    """Whether a choice has nothing left to choose: those go as a whole."""
    return all(isinstance(statement, ast.Pass) for statement in choice.body)


def _are_same(some: Sequence[ast.AST], others: Sequence[ast.AST]) -> bool:
    return len(some) == len(others) and all(
        type(one) is type(other) and ast.dump(one) == ast.dump(other) for one, other in zip(some, others, strict=True)
    )


def _has_comment(index: SemanticIndex, choice: ast.If | ast.IfExp) -> bool:
    """Whether a comment stands in what goes: in the second way, or beside the condition."""
    whole = index.span(choice)
    source = index.source
    parts = [Span(whole.start, source.line_end(whole.end))]
    if isinstance(choice, ast.If):
        kept = Span(index.span(choice.body[0]).start, source.line_end(index.span(choice.body[-1]).end))
        parts = [Span(whole.start, source.line_end(index.span(choice.test).end)), Span(kept.end, parts[0].end)]
    return any(part.start <= comment.start < part.end for comment in comment_spans(source.code) for part in parts)


def _with_parentheses(index: SemanticIndex, choice: ast.IfExp) -> Span:
    """Where a choice stands, with the parentheses that it had of its own and what is left of it needs none."""
    span, text = index.span(choice), index.source.text
    parent = index.parent(choice)
    is_argument = isinstance(parent, ast.keyword) or (isinstance(parent, ast.Call) and choice in parent.args)
    is_plain = isinstance(choice.body, _ATOMS) and "\n" not in index.text(choice.body)
    is_own = text[span.start - 1] == "(" and text[span.end : span.end + 1] == ")"
    return Span(span.start - 1, span.end + 1) if is_own and is_plain and not is_argument else span
