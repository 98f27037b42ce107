"""Random generators made where tensors of the device lie, ``torch.Generator(device=x.device)``, or are moved to."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic import SemanticIndex
from tpulint.semantic.devices.device_sites import device_argument
from tpulint.semantic.project.other_files import definition_called, returned
from tpulint.semantic.values.origins import origins

_DEPTH = 3
"""Functions that return the device of a tensor."""


def generators_beside(index: SemanticIndex) -> Iterator[ast.Call]:
    """Generators that are no sites of a chosen device, and raise where the tensor is on an XLA device."""
    calls = list(index.calls_to("torch.Generator"))
    known = {site.node for site in index.devices.sites} if calls else set()
    for call in calls:
        place = device_argument(call)
        if place is not None and call not in known and (_is_of_tensor(index, place, 0) or _is_moved_to(index, place)):
            yield call


def _is_moved_to(index: SemanticIndex, place: ast.expr) -> bool:
    """``device = torch.device(config["device"])``, to which the file moves modules, too."""
    if not isinstance(place, ast.Name) or index.moves.is_device(place) is None:
        return False
    made = [origin.node for origin in origins(index, place)]
    is_chosen = all(isinstance(node, ast.Call) and index.qualified_name(node.func) == "torch.device" for node in made)
    named = [item for node in made for item in index.tree.inside(node) if isinstance(item, ast.Constant)]
    if not is_chosen or any(item.value == "cpu" for item in named):
        return False
    moves = [call.args[0] for call, _ in index.method_calls("to") if call.args]
    return any(isinstance(item, ast.Name) and item.id == place.id for item in moves)


def _is_of_tensor(index: SemanticIndex, place: ast.expr, depth: int) -> bool:
    for origin in origins(index, place):
        node = origin.node
        if isinstance(node, ast.Attribute) and node.attr == "device" and index.is_device_tensor(node.value):
            return True
        called = definition_called(index, node) if isinstance(node, ast.Call) and depth < _DEPTH else None
        for value in () if called is None else returned(called):
            if called is not None and _is_of_tensor(called.file, value, depth + 1):
                return True
    return False
