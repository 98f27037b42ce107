"""Values on the device that a layer of the host is given: ``self.embed.weight.data = torch.randn(..., device="cuda")``.

CUDA allows it, torch_xla refuses to set the ``.data`` of a tensor of the host to one of the device. A parameter in its
place takes the value where it is. Of one that is frozen or shared by now, which a new one would undo, the value is made
on the host: it goes to the device with its module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Span
from tpulint.semantic import Kind, SemanticIndex, Side
from tpulint_rules.device._set_data import PARAMETERS, tensor_set

_LAYERS = "torch.nn."
_ELSEWHERE = ("torch.set_default_device", "torch.set_default_tensor_type")
"""What makes layers on another device than the host."""
_MOVES = ("to", "cuda", "to_empty", "apply")
"""Methods that may move the parameters of a module, or of one that holds it."""


def give_parameters(ctx: FileContext, fix: FixBuilder) -> None:
    """Complete the choice of the XLA device with parameters that are made anew, in layers just made on the host."""
    index = ctx.index
    for statement, parameter, given in _given_values(index):
        if _is_fresh(index, statement, parameter.value):
            fix.replace(Span(index.span(parameter).end, index.span(statement.targets[0]).end), "")
            fix.insert(index.span(given).start, f"{fix.use('torch', at=statement)}.nn.Parameter(")
            fix.insert(index.span(given).end, ")")


def devices_left_out(index: SemanticIndex) -> dict[ast.expr, ast.Call]:
    """Devices that are not to be named, and the calls: those of values for what is frozen or shared on the host."""
    found: dict[ast.expr, ast.Call] = {}
    for statement, parameter, given in _given_values(index):
        if not isinstance(given, ast.Call) or not (index.qualified_name(given.func) or "").startswith("torch."):
            continue
        named = [item.value for item in given.keywords if item.arg == "device"]
        if named and isinstance(named[0], ast.Constant) and _waits_on_host(index, statement, parameter.value):
            found[named[0]] = given
    return found


def _given_values(index: SemanticIndex) -> Iterator[tuple[ast.Assign, ast.Attribute, ast.expr]]:
    """``layer.weight.data = given`` of a tensor on the device, with the parameter."""
    if any(next(index.calls_to(name), None) is not None for name in _ELSEWHERE):
        return
    for target in index.tree.attributes:
        statement = index.parent(target)
        if target.attr != "data" or not isinstance(statement, ast.Assign) or statement.targets != [target]:
            continue
        parameter, given = target.value, statement.value
        if not isinstance(parameter, ast.Attribute) or parameter.attr not in PARAMETERS:
            continue
        if isinstance(given, ast.Call) and tensor_set(index, given) is not None:
            continue  # told, and mended, where it is moved
        value = index.value(given)
        if value.kind is Kind.TENSOR and value.side is Side.DEVICE and value.certain:
            yield statement, parameter, given


def _waits_on_host(index: SemanticIndex, statement: ast.stmt, owner: ast.expr) -> bool:
    """Whether a layer of torch is made in front of a statement, then frozen or shared, and nothing else happens to it.

    Moves of anything count as moves of it: it may be a part of what is moved.
    """
    layer, is_kept = index.text(owner), False
    suite = index.tree.suite_of(statement)
    for before in reversed(suite[: suite.index(statement)]):
        if isinstance(before, ast.Assign) and [index.text(target) for target in before.targets] == [layer]:
            return is_kept and _is_made_on_host(index, before.value)
        if _freezes(index, before, layer) or _shares(index, before, layer):
            is_kept = True
        elif layer in index.text(before) or any(map(_may_move, ast.walk(before))):
            return False
    return False


def _freezes(index: SemanticIndex, statement: ast.stmt, layer: str) -> bool:
    """``layer.weight.requires_grad = False``, ``layer.requires_grad_(False)``"""
    frozen = {layer, *(f"{layer}.{name}" for name in PARAMETERS)}
    said: ast.expr | None = None
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant) and len(statement.targets) == 1:
        said = statement.targets[0]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        said = statement.value.func
    if not isinstance(said, ast.Attribute) or said.attr not in ("requires_grad", "requires_grad_"):
        return False
    return index.text(said.value) in frozen


def _shares(index: SemanticIndex, statement: ast.stmt, layer: str) -> bool:
    """``other.weight = layer.weight``"""
    if not isinstance(statement, ast.Assign) or not all(isinstance(one, ast.Attribute) for one in statement.targets):
        return False
    return index.text(statement.value) in {f"{layer}.{name}" for name in PARAMETERS} and not any(
        index.text(target).startswith(f"{layer}.") for target in statement.targets
    )


def _may_move(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES


def _is_fresh(index: SemanticIndex, statement: ast.stmt, layer: ast.expr) -> bool:
    """Whether a layer of torch is made in front of a statement, and nothing but its values is set in between."""
    name = index.text(layer)
    suite = index.tree.suite_of(statement)
    for before in reversed(suite[: suite.index(statement)]):
        if isinstance(before, ast.Assign) and [index.text(target) for target in before.targets] == [name]:
            return _is_made_on_host(index, before.value)
        if name in index.text(before) and not _sets_values(index, before, name):
            return False  # it may move, be frozen, or share its parameters
    return False


def _sets_values(index: SemanticIndex, statement: ast.stmt, layer: str) -> bool:
    """``layer.weight.data = ...``"""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [index.text(target) for target in targets] in [[f"{layer}.{name}.data"] for name in sorted(PARAMETERS)]


def _is_made_on_host(index: SemanticIndex, made: ast.expr) -> bool:
    if not isinstance(made, ast.Call) or not (index.qualified_name(made.func) or "").startswith(_LAYERS):
        return False
    return all(item.arg not in (None, "device") for item in made.keywords)
