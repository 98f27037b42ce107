"""Devices that a file names which imports no torch itself: what other files of the project do with them decides."""

from __future__ import annotations

import ast

from tpulint.semantic import SemanticIndex
from tpulint.semantic.devices import device_settings as settings
from tpulint.semantic.devices.device_sites import Role, Site, branches
from tpulint.semantic.devices.devices_given import is_taken_for_device
from tpulint.semantic.project.unpacked_options import is_unpacked_for_device
from tpulint.semantic.syntax.variables import last_name

_YACS = ("CfgNode", "CN")
_DEPTH = 4
"""Variables and parameters that a text is followed through."""


def is_for_torch_of_others(index: SemanticIndex, site: Site) -> bool:
    """Whether a place of a file without torch names or asks for a device of torch, as others of the project show."""
    return _is_setting(index, site) or _decides_move(index, site) or _is_handed_on(index, site.node, 0)


def _is_handed_on(index: SemanticIndex, node: ast.expr, depth: int) -> bool:
    """``def main(device="cuda"): common.main(device)``, where the other file moves something there.

    Or ``x.to(device)``, of what others give the file, or what it makes with what imports torch for it.
    """
    around = index.parent(node)
    call = index.parent(around) if isinstance(around, ast.keyword) else around
    if isinstance(call, ast.Call) and node is not call.func:
        given = around.arg if isinstance(around, ast.keyword) else call.args.index(node)
        if given is not None and (_moves(index, call, given) or is_taken_for_device(index, call, given)):
            return True
    flow = index.devices.flow
    keys = flow.places.of(node).keys if depth < _DEPTH else ()
    return any(_is_handed_on(index, load, depth + 1) for key in keys for load in flow.variables.loads(key))


def _decides_move(index: SemanticIndex, site: Site) -> bool:
    """``if device == "cuda": x = x.cuda()``, of tensors that others hand over: the move and its condition go on."""
    flow = index.devices.flow
    comparison = flow.places.of(site.node).node if site.role is Role.COMPARISON else None
    return isinstance(comparison, ast.Compare | ast.Call) and flow.compared.decides_move(comparison)


def _moves(index: SemanticIndex, call: ast.Call, given: int | str) -> bool:
    """Whether a call moves what other files give a function here, or what a step is run with: ``x.to("cuda")``."""
    is_move = isinstance(call.func, ast.Attribute) and call.func.attr == "to" and given in (0, "device")
    return is_move and (bool(index.steps) or bool(index.outside))


def _is_setting(index: SemanticIndex, site: Site) -> bool:
    """Whether a file of the project takes what a place is the value of, a variable or an item, for a device."""
    items = index.parent(site.node)
    if isinstance(items, ast.Dict) and site.node in items.values:
        key = items.keys[items.values.index(site.node)]
        return isinstance(key, ast.Constant) and settings.is_item_used_as_device(index, str(key.value))
    name = index.devices.option_of(site.node)
    if name is not None:
        return settings.is_used_as_device(index, settings.option(name)) or is_unpacked_for_device(index, name)
    statement = index.statement_of(site.node)
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return False
    if all(branch is not site.node for branch in branches(statement.value)):
        return False
    is_field = isinstance(index.parent(statement), ast.ClassDef)
    for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
        if isinstance(target, ast.Attribute):
            if settings.is_used_as_device(index, settings.attribute(target.attr)):
                return True
            if settings.sets_device_option(index, target) or _is_of_yacs(index, target):
                return True
            if settings.is_asked_of_settings(index, target.attr):
                return True
        elif isinstance(target, ast.Name):
            kept = settings.attribute(target.id) if is_field else target.id
            if settings.is_used_as_device(index, kept):
                return True
    return False


def _is_of_yacs(index: SemanticIndex, target: ast.expr) -> bool:
    """``_C.MODEL.DEVICE = "cuda"`` of a configuration of yacs, which programs hand on as ``cfg``."""
    root = target
    while isinstance(root, ast.Attribute):
        root = root.value
    bindings = index.names.bindings(root) if isinstance(root, ast.Name) and root is not target else []
    made = [binding.value for binding in bindings if binding.kind == "assign" and not binding.path]
    return bool(made) and all(isinstance(value, ast.Call) and last_name(value.func) in _YACS for value in made)
