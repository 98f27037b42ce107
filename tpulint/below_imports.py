"""The place below the imports at the top of a module."""

from __future__ import annotations

import ast
import re
from functools import partial

from tpulint.statement_rows import is_comment_at_most

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def below_imports(index: SemanticIndex, text: str) -> tuple[int, str] | None:
    """Offset at which statements stand below the imports, and their text, set off by blank lines.

    Below those at the top, and below those of what the statements use. None where code stands behind the last import on
    its row.
    """
    source = index.source
    behind = max(map(partial(_first_import, index), _names_used(text)), default=0)
    last: ast.stmt | None = None
    for number, statement in enumerate(index.tree.module.body):
        is_docstring = number == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if is_docstring or _only_imports(statement):
            last = statement
        elif index.tree.start(statement) > behind:
            break
    if last is None:
        body = index.tree.module.body
        return (source.line_start(index.tree.start(body[0])) if body else 0), f"{text}\n\n"
    end = index.tree.end(last)
    line_end = source.line_end(end)
    if not is_comment_at_most(source.text[end:line_end]):
        return None
    following = source.text[line_end:].lstrip("\r\n\f \t")
    newlines = re.findall(r"\r\n|\r|\n", source.text[line_end : len(source.text) - len(following)])
    # A blank line stands behind the imports in nearly every file; where not, one is written.
    return line_end, f"\n\n{text}" + ("" if not following or len(newlines) > 1 else "\n")


def _names_used(text: str) -> set[str]:
    """What statements read."""
    nodes = ast.walk(ast.parse(text))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _first_import(index: SemanticIndex, name: str) -> int:
    """Where the module imports a name first; 0 where it does not."""
    bindings = index.names.bindings_in(index.names.module, name)
    imports = [one.statement for one in bindings if one.kind == "import" and one.statement is not None]
    return min(map(index.tree.start, imports), default=0)


def _only_imports(statement: ast.stmt) -> bool:
    """Whether a statement only imports, as ``try: import a`` with ``except ImportError: import b`` does."""
    if isinstance(statement, ast.Try):
        return all(_only_imports(item) for item in statement.body)
    return isinstance(statement, ast.Import | ast.ImportFrom)
