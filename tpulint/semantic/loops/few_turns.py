"""Loops that go over a few numbers which the code lists: ``for frame in [-1, -2]``."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.default_flags import literal
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import LoopNode, is_of_self
from tpulint.semantic.syntax.tree import SyntaxTree

_FEW = 8


def has_few_turns(tree: SyntaxTree, names: Names, loop: LoopNode) -> bool:
    """Whether all that a loop goes over is listed, there, under a name or in an attribute: ``self.frames[1:]``."""
    if not isinstance(loop, ast.For):
        return False
    listed = loop.iter
    if isinstance(listed, ast.Subscript) and isinstance(listed.slice, ast.Slice):
        listed = listed.value
    owner = tree.class_of(listed)
    if isinstance(listed, ast.Name):
        bindings = names.bindings(listed)
    elif owner is not None and is_of_self(listed) and isinstance(listed, ast.Attribute):
        bindings = names.attribute_bindings(owner, listed.attr)
    else:
        return _are_few(listed)
    values = [None if one.path or one.kind != "assign" else one.value for one in bindings]
    return bool(values) and all(value is not None and _are_few(value) for value in values)


def _are_few(node: ast.expr) -> bool:
    items = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else []
    values = [literal(item) for item in items]
    return 0 < len(values) <= _FEW and all(value is not None for value in values)
