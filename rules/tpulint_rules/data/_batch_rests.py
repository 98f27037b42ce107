"""Generators of the project that yield a smaller batch at the end: what is left over, or the last slice."""

from __future__ import annotations

import ast

from tpulint.semantic import FunctionNode, SemanticIndex
from tpulint.semantic.syntax.variables import last_name

_PLACES = 3
"""What ``range(0, n, size)`` is given."""
_DATA = frozenset({"data_source", "dataset", "data"})
"""Attributes under which samplers keep the samples."""


def _asks_for_any(test: ast.expr, names: set[str]) -> bool:
    """Whether a condition asks only whether anything is in one of these lists: ``if batch``, ``if len(batch) > 0``."""
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Gt | ast.NotEq):
        counted = test.left.args if isinstance(test.left, ast.Call) and test.left.args else [test.left]
        test = counted[0]
    return isinstance(test, ast.Name) and test.id in names


def rest_handed_on(index: SemanticIndex, function: FunctionNode) -> ast.If | None:
    """Where a generator that fills batches yields one that is not full: ``if batch: yield batch`` behind its loops."""
    for node in index.tree.nodes_in(function, ast.Yield, functions=False):
        holder = index.parent(index.statement_of(node))
        value = node.value if isinstance(node, ast.Yield) else None
        loop = index.tree.loop_of(node)
        if not isinstance(holder, ast.If) or value is None:
            continue
        if loop is not None and index.tree.encloses(function, loop):
            continue
        names = {part.id for part in ast.walk(holder.test) if isinstance(part, ast.Name)}
        made_of = {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}  # `yield torch.stack(batch)`
        is_rest = value.id in names if isinstance(value, ast.Name) else _asks_for_any(holder.test, made_of)
        if is_rest and "drop_last" not in index.text(holder.test):
            return holder
    return None


def last_slice_handed_on(index: SemanticIndex, function: FunctionNode) -> ast.Yield | None:
    """Where a generator yields all slices of a list: ``for i in range(0, len(rows), n): yield rows[i : i + n]``.

    The last is shorter; not so where the list itself was cut, or the loop may end or go on before.
    """
    for node in index.tree.nodes_in(function, ast.Yield, functions=False):
        statement = index.statement_of(node)
        loop, value = index.parent(statement), node.value if isinstance(node, ast.Yield) else None
        if not isinstance(loop, ast.For) or not isinstance(value, ast.Subscript) or not isinstance(loop.iter, ast.Call):
            continue
        cut, places = value.slice, loop.iter.args
        is_counted = index.qualified_name(loop.iter.func) == "builtins.range" and len(places) == _PLACES
        if not is_counted or not isinstance(cut, ast.Slice) or not isinstance(cut.upper, ast.BinOp) or cut.step:
            continue
        at, size, whole = index.text(loop.target), index.text(places[2]), places[1]
        is_next = isinstance(cut.upper.op, ast.Add) and {index.text(cut.upper.left), index.text(cut.upper.right)}
        is_whole = isinstance(whole, ast.Call) and index.qualified_name(whole.func) == "builtins.len"
        if not is_whole or cut.lower is None or index.text(cut.lower) != at or is_next != {at, size}:
            continue
        ends = index.tree.nodes_in(loop, ast.Break, ast.Continue, functions=False)
        if isinstance(node, ast.Yield) and not any(True for _ in ends) and not _is_cut(index, whole):
            return node
    return None


def _is_cut(index: SemanticIndex, count: ast.expr) -> bool:
    """Whether the list may be cut whose length is asked for, ``order = order[:n // size * size]``."""
    given = count.args[0] if isinstance(count, ast.Call) and len(count.args) == 1 else None
    if not isinstance(given, ast.Name):
        return not isinstance(given, ast.Attribute) or last_name(given) not in _DATA
    bindings = index.flow.reaching(given)
    made = [one.value for one in bindings if one.kind == "assign" and not one.path and one.value is not None]
    parts = [part for value in made for part in ast.walk(value)]
    return len(made) != 1 or len(bindings) != 1 or any(isinstance(p, ast.Slice | ast.operator) for p in parts)
