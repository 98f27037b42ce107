"""Devices of other files that a file asks about: what their functions return, and what their variables hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.bindings import part_of
from tpulint.semantic.tree import FUNCTIONS, FunctionNode, SyntaxTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEVICES = ("cuda", "xla")
_XLA_DEVICES = ("torch_xla.device", "torch_xla.core.xla_model.xla_device")


def returned_values(tree: SyntaxTree, function: FunctionNode) -> Iterator[ast.expr]:
    """What a function returns, on any of its ways."""
    for node in tree.inside(function, functions=False):
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value


def gives_device(index: SemanticIndex, call: ast.Call, path: tuple[int, ...]) -> bool:
    """Whether a function of another file returns a device, at a place of a tuple, that it calls by CUDA's name.

    That of XLA counts as well: the other file may be ported by now. Where it may be either, what is compared with it
    stays what it is.
    """
    if not index.imported.knows_others:
        return False
    known = index.imported.devices_returned
    if (call, path) not in known:
        known[call, path] = False  # files that ask each other
        known[call, path] = _finds(index, call, path)
    return known[call, path]


def _finds(index: SemanticIndex, call: ast.Call, path: tuple[int, ...]) -> bool:
    made = index.imported.called(call)
    if made is None or not isinstance(made.node, FUNCTIONS):
        return False
    file, function = made.file, made.node
    if not any(word in file.source.text for word in _DEVICES):
        return False
    values = [part_of(value, path) for value in returned_values(file.tree, function)]
    given = [value for value in values if value is not None]
    named = [value for value in given if file.devices.flow.derives(value)]
    if named:
        return not file.guards.knows_xla() and all(_is_device_there(file, value) for value in named)
    names_cuda = (isinstance(node, ast.Constant) and str(node.value) == "cuda" for node in file.tree.inside(function))
    return any(map(file.xla_devices.is_device, given)) and not any(names_cuda)


def _is_device_there(file: SemanticIndex, value: ast.expr) -> bool:
    """Whether the file of a function takes what it returns for a device itself: only then is it named anew there."""
    if isinstance(value, ast.Call) and gives_device(file, value, ()):
        return True  # it hands on what a third file chooses
    if not file.devices.sites:
        return False
    flow = file.devices.flow
    if isinstance(value, ast.Call) and file.qualified_name(value.func) == "torch.device":
        return True
    if any(flow.is_device_variable(key) for key in flow.variables.keys_of(value)):
        return True
    return flow.is_device_place(flow.places.of(value))


def is_device_elsewhere(index: SemanticIndex, node: ast.Name | ast.Attribute) -> bool:
    """Whether a variable of another file, ``config.DEVICE``, is a device, called by CUDA's name or by XLA's by now."""
    if not index.imported.knows_others:
        return False
    known = index.imported.devices_returned
    if (node, ()) not in known:
        known[node, ()] = False  # files that ask each other
        known[node, ()] = _is_set(index, node)
    return known[node, ()]


def _is_set(index: SemanticIndex, node: ast.Name | ast.Attribute) -> bool:
    found = index.imported.variable(node)
    if found is None:
        return False
    file, name = found
    bound = (binding.value for binding in file.names.bindings_in(file.names.module, name) if not binding.path)
    values = [value for value in bound if value is not None]
    if any(map(file.devices.flow.derives, values)):
        return not file.guards.knows_xla() and bool(file.devices.sites)
    return any(is_xla(file, value) or file.xla_devices.is_device(value) for value in values)


def is_xla(index: SemanticIndex, node: ast.expr) -> bool:
    """``"xla"``, ``torch_xla.device()``"""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.startswith("xla")
    return isinstance(node, ast.Call) and index.qualified_name(node.func) in _XLA_DEVICES
