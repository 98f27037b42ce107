"""Devices that are given to functions of other files: what a name that goes there is, is decided there."""

from __future__ import annotations

import ast

from tpulint.semantic.project.other_files import Definition, function_run
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.variables import is_configuration, last_name, says_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_OBJECTS = ("self", "cls")


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
    if (
        made is None
        or run is None
        or not isinstance(run.node, FUNCTIONS)
        or run.node.name.endswith(("_backend", "_module"))
    ):
        return False
    name = _parameter(run.node, given, run.file.tree.takes_object(run.node))
    if name is None:
        files = dict.fromkeys((run.file, made.file))
        return isinstance(given, str) and _hands_on(run) and any(_reads_device(file, given) for file in files)
    return says_device(name) or run.file.devices.flow.is_device_variable(("name", run.node, name))


def _hands_on(run: Definition) -> bool:
    """Whether a function does anything with what it is given by other names: ``self.__dict__.update(kwargs)``."""
    beside = run.node.args.kwarg if isinstance(run.node, FUNCTIONS) else None
    names = run.file.tree.nodes_in(run.node, ast.Name) if beside is not None else []
    return beside is not None and any(name.id == beside.arg for name in names)


def _reads_device(file: SemanticIndex, name: str) -> bool:
    """Whether a file takes an attribute of an object, ``self.where``, or an item, ``kwargs["where"]``, for a device."""
    flow = file.devices.flow
    read = [load for load in flow.variables.loads(("attribute", None, name)) if isinstance(load, ast.Attribute)]
    holders = [last_name(load.value) for load in read]
    if any(holder in _OBJECTS or is_configuration(holder) for holder in holders):
        return flow.is_device_variable(("attribute", None, name))
    return bool(flow.variables.loads(("item", None, name))) and flow.is_device_variable(("item", None, name))


def _parameter(function: FunctionNode, given: int | str, takes_object: bool) -> str | None:
    places = [item.arg for item in (*function.args.posonlyargs, *function.args.args)][int(takes_object) :]
    if isinstance(given, str):
        return given if given in (*places, *(item.arg for item in function.args.kwonlyargs)) else None
    return places[given] if given < len(places) else None
