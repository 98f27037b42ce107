"""Values on the device that a layer of the host is given: ``self.embed.weight.data = torch.randn(..., device="cuda")``.

CUDA allows it, torch_xla refuses to set the ``.data`` of a tensor of the host to one of the device. A parameter in its
place takes the value where it is.
"""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Span
from tpulint.semantic import Kind, SemanticIndex, Side
from tpulint_rules.device._set_data import PARAMETERS, tensor_set

_LAYERS = "torch.nn."
_ELSEWHERE = ("torch.set_default_device", "torch.set_default_tensor_type")
"""What makes layers on another device than the host."""


def give_parameters(ctx: FileContext, fix: FixBuilder) -> None:
    """Complete the choice of the XLA device with parameters that are made anew, in layers just made on the host."""
    index = ctx.index
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
        is_on_device = value.kind is Kind.TENSOR and value.side is Side.DEVICE and value.certain
        if is_on_device and _is_fresh(index, statement, parameter.value):
            fix.replace(Span(index.span(parameter).end, index.span(target).end), "")
            fix.insert(index.span(given).start, f"{fix.use('torch', at=statement)}.nn.Parameter(")
            fix.insert(index.span(given).end, ")")


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
