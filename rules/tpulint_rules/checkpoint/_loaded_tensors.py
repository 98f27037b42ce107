"""Tensors that come out of a file, alone or in a list, as what is done with them tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic import SemanticIndex
from tpulint.semantic.project.other_files import definition_called, loads_of_parameter

_OF_TENSORS = frozenset({"shape", "ndim", "detach", "unsqueeze", "squeeze", "view", "expand", "requires_grad_"})
"""Members of tensors that modules, arrays of the host aside, and dictionaries do not have."""
_OF_ARRAYS = frozenset({"shape", "ndim", "squeeze", "view"})
"""Those of them that arrays have as well: what another function makes of what is loaded may be one."""
_DEPTH = 6
"""Variables and functions that hand a tensor on."""


def is_tensor(index: SemanticIndex, loaded: ast.expr, depth: int = 0) -> bool:
    """``noise = torch.load(path)``, and ``noise.shape``, ``noise[y]`` or ``noise * x`` with tensors of the device.

    Also where a function returns it, ``def load(path): return torch.load(path)``, or is given it.
    """
    if depth > _DEPTH:
        return False
    members = _OF_TENSORS if depth < 2 else _OF_TENSORS - _OF_ARRAYS
    if _meets_tensor(index, loaded) or _is_asked(index, loaded, members):
        return True
    return any(is_tensor(file, use, depth + 1) for file, use in _handed_on(index, loaded))


def _handed_on(index: SemanticIndex, value: ast.expr) -> Iterator[tuple[SemanticIndex, ast.expr]]:
    """The uses of the variable that a value is given to, of the parameter, or of what the function returns."""
    parent = index.parent(value)
    if isinstance(parent, ast.Assign) and parent.value is value and len(parent.targets) == 1:
        target = parent.targets[0]
        yield from ((index, use) for use in (index.names.loads_of(target) if isinstance(target, ast.Name) else ()))
    elif isinstance(parent, ast.Return) and (function := index.function_of(parent)) is not None:
        yield from ((one.file, one.call) for one in index.tensor_needs.callers(function) if one.is_certain)
    elif isinstance(parent, ast.keyword) or (isinstance(parent, ast.Call) and value in parent.args):
        call = index.parent(parent) if isinstance(parent, ast.keyword) else parent
        called = definition_called(index, call) if isinstance(call, ast.Call) else None
        if called is not None and isinstance(call, ast.Call):
            yield from ((called.file, use) for use in loads_of_parameter(called, call, value))


def are_tensors(index: SemanticIndex, target: ast.Name) -> bool:
    """``reals = torch.load(path)``, and ``reals[-1].shape`` or ``[real.shape for real in reals]``."""
    return any(_has_element_asked(index, use) for use in index.names.loads_of(target))


def _is_asked(index: SemanticIndex, use: ast.expr, members: frozenset[str] = _OF_TENSORS) -> bool:
    parent = index.parent(use)
    return isinstance(parent, ast.Attribute) and parent.attr in members


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
