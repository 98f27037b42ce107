"""Data sets that cut each sample to one length: nothing is left to pad where they are collated."""

from __future__ import annotations

import ast

from tpulint.semantic import SemanticIndex
from tpulint.semantic.syntax.linear import Linear
from tpulint.semantic.syntax.nodes import is_of_self

_DEPTH = 3


def are_cut_to_one_length(index: SemanticIndex) -> bool:
    """Whether all data sets of a file give what they cut, ``x[left : left + self.size]``, or lists of that."""
    samples = [function for function in index.tree.functions if function.name == "__getitem__"]
    returned = [value for function in samples for value in index.definitions.returned_by(function)]
    return bool(returned) and all(_is_cut(index, value, 0) for value in returned)


def _is_cut(index: SemanticIndex, node: ast.expr, depth: int) -> bool:
    if isinstance(node, ast.ListComp):
        return _is_cut(index, node.elt, depth)
    if isinstance(node, ast.Name) and depth < _DEPTH:
        bindings = index.flow.reaching(node)
        values = [one.value for one in bindings if one.kind == "assign" and not one.path]
        return (
            bool(bindings)
            and len(values) == len(bindings)
            and all(value is not None and _is_cut(index, value, depth + 1) for value in values)
        )
    if not isinstance(node, ast.Subscript):
        return False
    part = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
    if not isinstance(part, ast.Slice) or part.lower is None or part.upper is None or part.step is not None:
        return False
    length = Linear(index).difference(part.upper, part.lower)
    return length is not None and all(map(is_of_self, length))
