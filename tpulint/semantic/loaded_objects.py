"""Objects that were saved before: of whatever class they are, it is that of what is made otherwise."""

from __future__ import annotations

import ast

from tpulint.semantic.flow import Flow
from tpulint.semantic.names import Names
from tpulint.semantic.torch_facts import MODULE_SELF_METHODS

LOADS = frozenset({"torch.load", "pickle.load", "joblib.load", "dill.load", "cloudpickle.load"})


def is_loaded(names: Names, flow: Flow, value: ast.expr | None) -> bool:
    """Whether a value comes out of a file, ``torch.load(path)``, or is a part of what does, ``checkpoint["model"]``.

    It may be moved at once: ``torch.load(path, map_location="cpu").to(device)``.
    """
    while isinstance(value, ast.Subscript) or _gets(value):
        value = value.value if isinstance(value, ast.Subscript) else value.func.value  # type: ignore[union-attr]
    if isinstance(value, ast.Name):
        bindings = flow.reaching(value)
        return bool(bindings) and all(
            binding.kind == "assign" and not binding.path and _loads(names, binding.value) for binding in bindings
        )
    return _loads(names, value)


def _loads(names: Names, value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and names.qualified(value.func) in LOADS


def _gets(value: ast.expr | None) -> bool:
    """``checkpoint.get("model")``, ``model.to(device)``"""
    method = value.func.attr if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else ""
    return method == "get" or method in MODULE_SELF_METHODS
