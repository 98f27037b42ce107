"""Batches of one example that each turn cuts to the example's own length: ``torch.tensor([ids[:length]])``."""

from __future__ import annotations

import ast

from tpulint.semantic import SemanticIndex

_DEPTH = 4


def cut_to_its_length(index: SemanticIndex, made: ast.expr) -> ast.expr | None:
    """The length that a list of one row is cut to, where the loop deals out both; None for any other list."""
    row = made.elts[0] if isinstance(made, ast.List) and len(made.elts) == 1 else None
    cut = row.slice if isinstance(row, ast.Subscript) else None
    if not isinstance(row, ast.Subscript) or not isinstance(cut, ast.Slice) or cut.lower or cut.step or not cut.upper:
        return None
    loop = _dealing_loop(index, row.value, 0)
    return cut.upper if loop is not None and _dealing_loop(index, cut.upper, 0) is loop else None


def _dealing_loop(index: SemanticIndex, node: ast.expr, depth: int) -> ast.AST | None:
    """The loop whose every turn has another such value: ``f.length`` of ``for f in features``; no counter of turns."""
    while isinstance(node, ast.Attribute) or (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)):
        node = node.value
    bindings = index.flow.reaching(node) if isinstance(node, ast.Name) and depth < _DEPTH else ()
    made = bindings[0] if len(bindings) == 1 else None
    if made is None or made.value is None:
        return None
    if made.kind == "assign" and index.turn_code.turn_of(made.statement) is not None:
        return _dealing_loop(index, made.value, depth + 1)
    is_dealt = made.kind == "loop" and made.statement in index.turn_code.loops
    loop = made.statement if isinstance(made.statement, ast.For | ast.AsyncFor) and is_dealt else None
    return None if loop is None or index.counters.of(loop) == made.name else loop
