"""``with contextlib.nullcontext():``, which fixes write for what a GPU alone needs: the block stands without it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.emptied import has_comment
from tpulint.model import Span
from tpulint.restructuring import Change, Rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.fixes import FixBuilder
    from tpulint.semantic import SemanticIndex

_NOTHING = "contextlib.nullcontext"


def emptied_contexts(before: SemanticIndex, after: SemanticIndex) -> list[ast.With]:
    """Such contexts since the fixes; of those that stand in each other only the outermost."""
    if not after.mentions(r"\bnullcontext\b") or before.mentions(r"\bnullcontext\b"):
        return []
    found = [node for node in _contexts_of_nothing(after) if _goes(after, node) or _unwrapped(after, node) is not None]
    return [node for node in found if not any(o is not node and after.tree.encloses(o, node) for o in found)]


def take_out(fix: FixBuilder, index: SemanticIndex, node: ast.With) -> None:
    """Leave the block of a context alone, and nothing where nothing is left of that."""
    if _goes(index, node):
        fix.delete(node)
        return
    for span, text in _unwrapped(index, node) or ():
        fix.replace(span, text)


def _goes(index: SemanticIndex, node: ast.With) -> bool:
    return isinstance(node.body[0], ast.Pass) and len(node.body) == 1 and not has_comment(index, node)


def _contexts_of_nothing(index: SemanticIndex) -> Iterator[ast.With]:
    for node in index.tree.parents:
        if isinstance(node, ast.With) and len(node.items) == 1 and node.items[0].optional_vars is None:
            call = node.items[0].context_expr
            is_empty = isinstance(call, ast.Call) and not call.args and not call.keywords
            if isinstance(call, ast.Call) and is_empty and index.qualified_name(call.func) == _NOTHING:
                yield node


def _unwrapped(index: SemanticIndex, node: ast.With) -> list[Change] | None:
    """The changes that unwrap a block; None where a comment stands beside its header, or rows are odd."""
    source, tree = index.source, index.tree
    head, first, last = (source.row(at) for at in (tree.start(node), tree.start(node.body[0]), tree.end(node.body[-1])))
    rows = Rows(index, head, last)
    header = source.line(head)
    indent, inner = rows.indent(head), rows.indent(first)
    is_plain = rows.are_plain and header.startswith(f"{indent}with ") and header.rstrip().endswith("nullcontext():")
    if not is_plain or first == head or rows.start(first) + len(inner) != tree.start(node.body[0]):
        return None
    if any(
        line.strip() and not line.startswith(inner) for line in (source.line(row) for row in range(head + 1, first))
    ):
        return None
    rows.cut_rows(head, head)
    rows.indent_as(range(head + 1, _last_of_block(index, last, inner) + 1), inner, indent)
    return [(Span(*span), text) for span, text in rows.changes()]


def _last_of_block(index: SemanticIndex, row: int, inner: str) -> int:
    """The last row of a block, with the comments at its end."""
    source, last = index.source, row
    for below in range(row + 1, source.cell_rows(row)[1] + 1):
        line = source.line(below)
        if line.startswith(f"{inner}#"):
            last = below
        elif line.strip():
            break
    return last
