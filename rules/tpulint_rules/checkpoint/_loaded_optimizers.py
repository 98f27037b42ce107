"""Optimizers that are taken out of a file as they are, with what they keep of each weight."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tpulint.semantic import Binding, Kind, SemanticIndex

_METHODS = frozenset({"step", "zero_grad", "add_param_group"})


def holds_optimizer(index: SemanticIndex, loaded: ast.expr) -> bool:
    """Whether an optimizer is taken whole: ``optimizer = loaded["optimizer"]``, and ``optimizer.step()``.

    What it keeps of each weight stays where it is loaded: nothing moves it with the model.
    """
    parent = index.parent(loaded)
    if isinstance(parent, ast.Subscript) and parent.value is loaded:
        return holds_optimizer(index, parent)
    if not isinstance(parent, ast.Assign) or parent.value is not loaded or len(parent.targets) != 1:
        return False
    target = parent.targets[0]
    if isinstance(target, ast.Attribute):
        return _are_optimizers(index, index.flow.reaching_attribute(target))
    if not isinstance(target, ast.Name):
        return False
    uses = [(load, index.parent(load)) for load in index.flow.loads_of(target, loaded)]
    called = [use.attr for _, use in uses if isinstance(use, ast.Attribute) and _is_called(index, use)]
    if not _METHODS.isdisjoint(called):
        return True
    parts = [load for load, use in uses if isinstance(use, ast.Subscript)]
    return _are_optimizers(index, index.names.bindings(target)) or any(holds_optimizer(index, one) for one in parts)


def _are_optimizers(index: SemanticIndex, bindings: Iterable[Binding]) -> bool:
    return any(index.kinds.binding_value(binding).kind is Kind.OPTIMIZER for binding in bindings)


def _is_called(index: SemanticIndex, method: ast.Attribute) -> bool:
    call = index.parent(method)
    return isinstance(call, ast.Call) and call.func is method
