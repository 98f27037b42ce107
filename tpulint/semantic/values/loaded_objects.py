"""Objects that were saved before: of whatever class they are, it is that of what is made otherwise."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.torch_facts import MODULE_SELF_METHODS
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.value import is_none

LOADS = frozenset({"torch.load", "pickle.load", "joblib.load", "dill.load", "cloudpickle.load"})

_LOADING = ("load", "from_checkpoint", "resume", "restore")
"""Beginnings of the names of functions that give what was saved: ``utils.load_model(path)``."""


def is_loaded(names: Names, flow: Flow, value: ast.expr | None) -> bool:
    """Whether a value comes out of a file, ``torch.load(path)``, or is a part of what does, ``checkpoint["model"]``.

    It may be moved at once: ``torch.load(path, map_location="cpu").to(device)``. What a function called ``load`` gives
    counts as well.
    """
    whole = value
    while whole is not None:
        value, whole = whole, _whole(whole)
    if isinstance(value, ast.Name):
        # `checkpoint = None` at the top of a file holds nothing yet.
        bindings = [binding for binding in flow.reaching(value) if not is_none(binding.value)]
        return bool(bindings) and all(
            binding.kind == "assign" and not binding.path and _loads(names, binding.value) for binding in bindings
        )
    return _loads(names, value)


def _loads(names: Names, value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and (
        names.qualified(value.func) in LOADS or last_name(value.func).startswith(_LOADING)
    )


def _whole(value: ast.expr) -> ast.expr | None:
    """What a value is a part of, or is the same as: of ``checkpoint.get("model")`` and ``checkpoint.to(device)``."""
    if isinstance(value, ast.Subscript | ast.Attribute):
        return value.value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        method = value.func.attr
        return value.func.value if method == "get" or method in MODULE_SELF_METHODS else None
    return None
