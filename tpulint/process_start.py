"""What touches the device in a process that joins others: only once the process knows which chip is its own."""

from __future__ import annotations

import ast

from tpulint.semantic import LOOPS, FunctionNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.fixes import FixBuilder
    from tpulint.semantic import SemanticIndex


def write_behind(fix: FixBuilder, index: SemanticIndex, statement: ast.stmt, join: ast.Call, text: str) -> bool:
    """Write what touches the device behind the statement that joins, under the condition that a statement stands under.

    False where that would be behind the training, or where it is not clear what comes when: nothing is written.
    """
    tree = index.tree
    joining = _joining(index, statement, join)
    if joining is None:
        body = (index.function_of(statement) or tree.module).body
        guard = tree.parent(statement)
        if not isinstance(guard, ast.If) or guard not in body or statement not in guard.body:
            return False
        text = f"if {index.text(guard.test)}:\n    {text}"
        joining = _joining(index, guard, join)
    if joining is None or isinstance(joining, ast.Return | ast.With | ast.Try):
        return False
    fix.insert_after(joining, text)
    return True


def _joining(index: SemanticIndex, statement: ast.stmt, join: ast.Call) -> ast.stmt | None:
    """The statement behind this one, in its block, that joins."""
    suite = index.tree.suite_of(statement)
    return next((item for item in suite[suite.index(statement) + 1 :] if _joins(index, item, join)), None)


def _joins(index: SemanticIndex, statement: ast.stmt, join: ast.Call) -> bool:
    """Whether a statement holds the call, or calls a short function of the file that does."""
    if index.tree.encloses(statement, join):
        return True
    callee: FunctionNode | None = index.function_of(join)
    if callee is None or any(isinstance(node, LOOPS) for node in index.tree.inside(callee)):
        return False
    return any(index.tree.encloses(statement, call) for call in index.definitions.calls_of(callee))
