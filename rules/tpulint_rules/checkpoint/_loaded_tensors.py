"""Tensors that come out of a file, alone or in a list, as what is done with them tells."""

from __future__ import annotations

import ast

from tpulint.semantic import SemanticIndex

_OF_TENSORS = frozenset({"shape", "ndim", "detach", "unsqueeze", "squeeze", "view", "expand", "requires_grad_"})
"""Members of tensors that modules, arrays of the host aside, and dictionaries do not have."""


def is_tensor(index: SemanticIndex, target: ast.Name) -> bool:
    """``noise = torch.load(path)``, and ``noise.shape``, ``noise[y]`` or ``noise * x`` with tensors of the device."""
    return any(_is_asked(index, use) or _meets_tensor(index, use) for use in index.names.loads_of(target))


def are_tensors(index: SemanticIndex, target: ast.Name) -> bool:
    """``reals = torch.load(path)``, and ``reals[-1].shape`` or ``[real.shape for real in reals]``."""
    return any(_has_element_asked(index, use) for use in index.names.loads_of(target))


def _is_asked(index: SemanticIndex, use: ast.expr) -> bool:
    parent = index.parent(use)
    return isinstance(parent, ast.Attribute) and parent.attr in _OF_TENSORS


def _meets_tensor(index: SemanticIndex, use: ast.expr) -> bool:
    """Whether a tensor of the device chooses in what is loaded, or is computed with it."""
    parent = index.parent(use)
    if isinstance(parent, ast.Subscript):
        return parent.value is use and index.kinds.is_on_device(parent.slice)
    if isinstance(parent, ast.BinOp):
        return index.kinds.is_on_device(parent.right if parent.left is use else parent.left)
    return False


def _has_element_asked(index: SemanticIndex, use: ast.Name) -> bool:
    parent = index.parent(use)
    if isinstance(parent, ast.Subscript) and parent.value is use:
        is_key = isinstance(parent.slice, ast.Constant) and isinstance(parent.slice.value, str)
        return not is_key and _is_asked(index, parent)
    if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension) and parent.iter is use:
        target = parent.target
        return isinstance(target, ast.Name) and any(_is_asked(index, one) for one in index.names.loads_of(target))
    return False
