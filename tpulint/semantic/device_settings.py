"""Devices that a file of settings names for others: ``DEVICE = "cuda"``, used as ``torch.device(config.DEVICE)``.

In a dict, ``{"device": "cuda"}``, they are used as ``torch.device(config["device"])``; the default of an option that a
function of the file parses, ``--device``, as ``torch.device(args.device)``.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.semantic.outside import NOW_AND_THEN, OutgoingCall, OutsideCall
from tpulint.semantic.values import Kind, Side
from tpulint.semantic.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_AS_DEVICE = Kind.DEVICE.name


def settings_used(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """Variables of other files that this one takes for devices, each as a call that is given a device."""
    for call in index.calls if index.imported.knows_others else ():
        for given in _devices_given(index, call):
            found = index.imported.variable(given) or _option(index, given)
            if found is not None:
                file, name = found
                told = ((name, _AS_DEVICE, Side.UNKNOWN.name),)
                caller = os.path.basename(index.source.path)
                yield OutgoingCall(file.source.path, OutsideCall(name, NOW_AND_THEN, False, False, told, caller))


def _option(index: SemanticIndex, given: ast.expr) -> tuple[SemanticIndex, str] | None:
    """The file that parses the option whose value is given, ``args.device``, and the name of the option."""
    if not isinstance(given, ast.Attribute) or not isinstance(given.value, ast.Name):
        return None
    parsed = given.value
    kept = index.imported.variable(parsed)  # `from options import args`
    file = None if kept is None else kept[0]
    bindings = index.flow.made(parsed) if file is None else ()
    if len(bindings) == 1 and isinstance(bindings[0].value, ast.Call) and not bindings[0].path:
        made = index.imported.called(bindings[0].value)  # `args = get_arguments()`
        file = None if made is None or made.is_class else made.file
    return (file, option(given.attr)) if file is not None and "add_argument" in file.source.text else None


def option(name: str) -> str:
    """What an option is called among the variables that other files use."""
    return f"--{name}"


def is_used_as_device(index: SemanticIndex, name: str) -> bool:
    """Whether another file takes a variable of this one for a device."""
    return any(
        call.function == name and any(kind == _AS_DEVICE for given, kind, _ in call.arguments if given == name)
        for call in index.outside
    )


def is_item_used_as_device(index: SemanticIndex, key: str) -> bool:
    """Whether a file that this one imports takes an item of a dict for a device: ``torch.device(config["device"])``."""
    return any(
        isinstance(given, ast.Subscript) and isinstance(given.slice, ast.Constant) and given.slice.value == key
        for file in index.imported.files()
        for call in file.calls
        for given in _given_as_device(file, call)
    )


def _devices_given(index: SemanticIndex, call: ast.Call) -> Iterator[ast.expr]:
    """What is given for a device, by its name as well."""
    for item in _given_as_device(index, call):
        if isinstance(item, ast.Name | ast.Attribute) and "device" in last_name(item).lower():
            yield item


def _given_as_device(index: SemanticIndex, call: ast.Call) -> Iterator[ast.expr]:
    """What ``torch.device(x)``, ``y.to(x)`` and ``f(device=x)`` take for a device."""
    moves = isinstance(call.func, ast.Attribute) and call.func.attr == "to"
    yield from call.args[:1] if moves or index.qualified_name(call.func) == "torch.device" else []
    yield from (keyword.value for keyword in call.keywords if keyword.arg in ("device", "map_location"))
