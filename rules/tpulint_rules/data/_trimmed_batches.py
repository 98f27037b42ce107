"""Batches that are cut to their longest sample: ``ids[:, :longest]`` of samples that are padded already."""

from __future__ import annotations

import ast
import re

from tpulint.semantic import SemanticIndex
from tpulint.semantic.syntax.variables import last_name

_LARGEST = ("builtins.max", "numpy.max", "numpy.amax", "torch.max", "torch.amax")
_LENGTHS = r"(?i)len|size|num"
_DEPTH = 4


def is_largest_of_samples(index: SemanticIndex, call: ast.AST) -> bool:
    """``max(lens)`` or ``mask.sum(1).max()``: one number, of what a function that makes batches is given in samples."""
    if not isinstance(call, ast.Call) or call.keywords:
        return False
    if index.qualified_name(call.func) in _LARGEST:
        return len(call.args) == 1 and _is_of_samples(index, call.args[0], 0)
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr not in ("max", "amax") or call.args:
        return False
    # Of what is no number of elements, `x.max()`, the largest is no length.
    counted = func.value.func if isinstance(func.value, ast.Call) else None
    counts = isinstance(counted, ast.Attribute) and counted.attr in ("sum", "count_nonzero")
    is_length = counts or re.search(_LENGTHS, last_name(func.value)) is not None
    return is_length and index.qualified_name(func) is None and _is_of_samples(index, func, 0)


def trimmed_by(index: SemanticIndex, node: ast.AST) -> ast.AST | None:
    """The part of what the samples bring along that ends at a length: ``ids[:, :longest]``."""
    for ancestor in index.tree.ancestors(node):
        if isinstance(ancestor, ast.Slice):
            places = index.parent(ancestor)
            taken = index.parent(places) if isinstance(places, ast.Tuple) and places.elts[0] is not ancestor else None
            is_end = ancestor.lower is None and ancestor.step is None
            is_part = isinstance(taken, ast.Subscript) and isinstance(taken.ctx, ast.Load)
            if not isinstance(taken, ast.Subscript) or not is_end or not is_part:
                return None
            return taken if _is_of_samples(index, taken.value, 0) else None
        is_same = isinstance(ancestor, ast.Attribute) and ancestor.attr == "item"
        if isinstance(ancestor, ast.Call):
            name = index.qualified_name(ancestor.func)
            is_same = name in ("builtins.int", "builtins.min") or (name is None and not ancestor.args)
        if not is_same:
            return None
    return None


def _is_of_samples(index: SemanticIndex, node: ast.AST, depth: int) -> bool:
    """Whether a parameter that has no value by default goes into an expression, itself or through variables."""
    if depth > _DEPTH:
        return False
    for name in (node, *index.tree.inside(node)):
        for binding in index.flow.reaching(name) if isinstance(name, ast.Name) and name.id != "self" else ():
            if binding.kind == "parameter":
                if binding.value is None:
                    return True
            elif binding.value is not None and _is_of_samples(index, binding.value, depth + 1):
                return True
    return False
