"""Lists of the host to which each turn of a loop adds: ``tokens.append(token)``."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_LONGER = frozenset({"append", "extend", "insert"})
_SHORTER = frozenset({"pop", "popleft", "remove", "clear"})


def added_in_turn(index: SemanticIndex, name: ast.Name) -> ast.AST | None:
    """What makes a list longer from turn to turn that a loop looks at; None where it may be cut, or filled up."""
    loop = index.tree.loop_of(name)
    if loop not in index.turn_code.loops or not index.changing_numbers.separates_turns(loop):
        return None
    found: list[ast.AST] = []
    for binding in index.names.bindings(name):
        if index.tree.encloses(loop, binding.node):
            if not _adds(binding) or not _is_of_each_turn(index, binding.statement, loop):
                return None
            found.append(binding.statement)
        elif not _may_be_list(index, binding):
            return None
    for use in index.names.loads_of(name):
        holder = index.parent(use)
        if isinstance(holder, ast.Subscript) and not isinstance(holder.ctx, ast.Load):
            return None  # `del tokens[0]`
        method = holder.attr if isinstance(holder, ast.Attribute) else ""
        if method in _SHORTER:
            return None
        if method in _LONGER and index.tree.encloses(loop, use):
            if not _is_of_each_turn(index, index.statement_of(use), loop):
                return None
            found.append(index.statement_of(use))
    return found[0] if found else None


def _adds(binding: Binding) -> bool:
    """``tokens += [token]``, ``tokens = tokens + [token]``."""
    made = binding.statement
    if isinstance(made, ast.AugAssign):
        return isinstance(made.op, ast.Add) and isinstance(made.value, ast.List) and bool(made.value.elts)
    value = binding.value if binding.kind == "assign" and not binding.path else None
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return False
    is_same = isinstance(value.left, ast.Name) and value.left.id == binding.name
    return is_same and isinstance(value.right, ast.List) and bool(value.right.elts)


def _may_be_list(index: SemanticIndex, binding: Binding) -> bool:
    """Whether a variable holds a list as far as is seen, and no ``deque(maxlen=8)``."""
    value = binding.value
    return not isinstance(value, ast.Call) or "deque" not in (index.qualified_name(value.func) or "")


def _is_of_each_turn(index: SemanticIndex, statement: ast.AST, loop: LoopNode) -> bool:
    """Whether a statement of a loop runs in each turn that is not the last."""
    for holder in index.tree.ancestors(statement):
        if holder is loop:
            return True
        if not isinstance(holder, ast.With):
            return False
    return False
