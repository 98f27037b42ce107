"""Devices that a file of settings names for others: ``DEVICE = "cuda"``, used as ``torch.device(config.DEVICE)``."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tpulint.semantic.outside import NOW_AND_THEN, OutgoingCall, OutsideCall
from tpulint.semantic.values import Kind, Side
from tpulint.semantic.variables import last_name

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_AS_DEVICE = Kind.DEVICE.name


def settings_used(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """Variables of other files that this one takes for devices, each as a call that is given a device."""
    for call in index.calls if index.imported.knows_others else ():
        for given in _devices_given(index, call):
            found = index.imported.variable(given)
            if found is not None:
                file, name = found
                told = ((name, _AS_DEVICE, Side.UNKNOWN.name),)
                caller = os.path.basename(index.source.path)
                yield OutgoingCall(file.source.path, OutsideCall(name, NOW_AND_THEN, False, False, told, caller))


def is_used_as_device(index: SemanticIndex, name: str) -> bool:
    """Whether another file takes a variable of this one for a device."""
    return any(
        call.function == name and any(kind == _AS_DEVICE for given, kind, _ in call.arguments if given == name)
        for call in index.outside
    )


def _devices_given(index: SemanticIndex, call: ast.Call) -> Iterator[ast.expr]:
    """What ``torch.device(x)``, ``y.to(x)`` and ``f(device=x)`` take for a device, by its name as well."""
    moves = isinstance(call.func, ast.Attribute) and call.func.attr == "to"
    first = call.args[:1] if moves or index.qualified_name(call.func) == "torch.device" else []
    for item in (*first, *(keyword.value for keyword in call.keywords if keyword.arg in ("device", "map_location"))):
        if isinstance(item, ast.Name | ast.Attribute) and "device" in last_name(item).lower():
            yield item
