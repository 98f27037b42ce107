"""Whole modules that come out of a file, and the device that ``map_location`` has put them on."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.semantic import Binding, Kind, SemanticIndex
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.project.other_files import definition_called, loads_of_parameter
from tpulint_rules.device._gpu_numbers import number_text

_OF_MODULES = frozenset({"eval", "train", "parameters", "named_parameters"})
_OF_TENSORS = frozenset({"detach", "backward", "requires_grad_"})
_DEPTH = 2
"""Functions that hand a model on."""
_OF_DICTIONARIES = frozenset({"items", "keys", "values", "get", "pop", "update", "setdefault"})


def is_module(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether what a call loads is used as a module, and nothing else moves it."""
    if any(creation.node is call for move in index.moves.moves for creation in move.creations):
        return False
    parent = index.parent(call)
    if isinstance(parent, ast.Attribute):
        return parent.attr in _OF_MODULES and isinstance(index.parent(parent), ast.Call)
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return False
    target = parent.targets[0]
    if isinstance(target, ast.Name):
        bindings = index.names.bindings(target)
    elif isinstance(target, ast.Attribute):
        bindings = list(index.flow.reaching_attribute(target))
    else:
        return False
    loaded = [binding for binding in bindings if binding.value is call]
    if any(index.kinds.binding_value(binding).kind is Kind.MODULE for binding in loaded):
        return True
    uses = index.flow.loads_of(target, call) if isinstance(target, ast.Name) and loaded else []
    if any(_is_called(index, use) for use in uses):
        return True
    # What is loaded in place of a module is one.
    others = [binding for binding in bindings if binding.value is not call]
    is_model = any(_is_made_as_module(index, binding) for binding in others)
    return is_model and bool(uses) and not any(_is_looked_into(index, use) for use in uses)


def _is_called(index: SemanticIndex, use: ast.Name, depth: int = 0) -> bool:
    """``model(x)`` of a tensor on the device, or with one for its answer, be it in a function that is given it."""
    call = index.parent(use)
    if not isinstance(call, ast.Call):
        return False
    if call.func is use:
        return any(index.kinds.is_on_device(item) for item in call.args) or _gives_tensor(index, call)
    called = definition_called(index, call) if depth < _DEPTH else None
    loads = [] if called is None else loads_of_parameter(called, call, use)
    return called is not None and any(_is_called(called.file, load, depth + 1) for load in loads)


def _gives_tensor(index: SemanticIndex, call: ast.Call) -> bool:
    """``answer = model(x)``, and ``answer.detach()``."""
    parent = index.parent(call)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    uses: list[ast.expr] = [*index.flow.loads_of(target, call)] if isinstance(target, ast.Name) else [call]
    return any(isinstance(use := index.parent(one), ast.Attribute) and use.attr in _OF_TENSORS for one in uses)


def _is_made_as_module(index: SemanticIndex, binding: Binding) -> bool:
    made = binding.value if binding.kind == "assign" and not binding.path else None
    return isinstance(made, ast.Call) and index.kind(made) is Kind.MODULE


def _is_looked_into(index: SemanticIndex, use: ast.Name) -> bool:
    """Whether a variable is read as a checkpoint is: by its keys, in a loop, or by ``load_state_dict``."""
    parent = index.parent(use)
    if isinstance(parent, ast.Attribute):
        return parent.attr in _OF_DICTIONARIES
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        return parent.func.attr == "load_state_dict"
    return not isinstance(parent, ast.Call | ast.keyword)


def device_of(ctx: FileContext, fix: FixBuilder, call: ast.Call, place: ast.expr) -> str | None:
    """Text of the device that a ``map_location`` names; None where that may be the host, or which one is not seen."""
    made = _value_of(ctx.index, place)
    if made is None:
        return ctx.text(place)
    if isinstance(made, ast.IfExp) or (isinstance(made, ast.Lambda) and not isinstance(made.body, ast.Call)):
        return None
    if isinstance(place, ast.Constant):
        return fix.emit.device_name(call)
    if not ctx.portable:
        return fix.device(call)
    numbered = _numbered(made)
    return None if numbered is None else fix.device(call, number_text(ctx, fix, numbered))


def _value_of(index: SemanticIndex, place: ast.expr) -> ast.expr | None:
    """What a ``map_location`` is, if not a variable that holds a device for others, too."""
    if not isinstance(place, ast.Name):
        return None if isinstance(place, ast.Attribute) else place
    values = [binding.value for binding in index.flow.reaching(place) if not binding.path]
    value = values[0] if len(values) == 1 else None
    if isinstance(value, ast.Dict | ast.Lambda):
        return value
    is_of_load = len(index.names.loads_of(place)) == 1 and len(index.names.bindings(place)) == 1
    is_text = value is not None and index.devices.flow.cuda_index(value) is not None
    return value if is_of_load and is_text else None


def _numbered(place: ast.expr) -> ast.expr | None:
    """The device in a place, or its number; None where there are several."""
    if isinstance(place, ast.Lambda):
        body = place.body
        if not isinstance(body, ast.Call) or not isinstance(body.func, ast.Attribute) or body.func.attr != "cuda":
            return None
        return next(iter(values_given(body)), ast.Constant("cuda"))
    if isinstance(place, ast.Dict):
        return place.values[0] if len(place.values) == 1 else None
    return place
