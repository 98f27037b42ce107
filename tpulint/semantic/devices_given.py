"""Devices that are given to functions of other files: what a name that goes there is, is decided there."""

from __future__ import annotations

import ast

from tpulint.semantic.other_files import function_run
from tpulint.semantic.tree import FUNCTIONS, FunctionNode
from tpulint.semantic.variables import says_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def is_taken_for_device(index: SemanticIndex, call: ast.Call, given: int | str) -> bool:
    """Whether a function of another file takes an argument, by its place or its name, for a device."""
    if not index.imported.knows_others:
        return False
    known = index.imported.devices_given
    if (call, given) not in known:
        known[call, given] = False  # files that ask each other
        known[call, given] = _finds(index, call, given)
    return known[call, given]


def _finds(index: SemanticIndex, call: ast.Call, given: int | str) -> bool:
    made = index.imported.called(call)
    run = function_run(made) if made is not None else None
    if run is None or not isinstance(run.node, FUNCTIONS) or run.node.name.endswith(("_backend", "_module")):
        return False
    name = _parameter(run.node, given, run.file.tree.takes_object(run.node))
    if name is None:
        return False
    return says_device(name) or run.file.devices.flow.is_device_variable(("name", run.node, name))


def _parameter(function: FunctionNode, given: int | str, takes_object: bool) -> str | None:
    places = [item.arg for item in (*function.args.posonlyargs, *function.args.args)][int(takes_object) :]
    if isinstance(given, str):
        return given if given in (*places, *(item.arg for item in function.args.kwonlyargs)) else None
    return places[given] if given < len(places) else None
