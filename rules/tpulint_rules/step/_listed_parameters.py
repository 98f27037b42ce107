"""Parameters of layers in plain lists, which a module owns by a ``nn.ParameterList`` alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.semantic import SemanticIndex
from tpulint.semantic.syntax.bindings import element_of
from tpulint_rules.step._parameters_given import added_to

PARAMETER_LIST = "torch.nn.ParameterList"
_REGISTERS = re.compile(r"\bModule(?:List|Dict)\b|\bSequential\(\s*\*|\b(?:add_module|register_module|setattr)\b")
"""What makes a part of a module of what stands in a plain list."""
_DEPTH = 4
"""Lists of lists that parameters are followed through."""


def parameters_of_plain_lists(index: SemanticIndex) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Each ``ParameterList`` of such parameters, with a layer that they are of, which no move of the module reaches."""
    for made in index.calls_to(PARAMETER_LIST):
        owner, statement = index.tree.class_of(made), index.statement_of(made)
        if owner is None or not index.definitions.is_module_class(owner) or not made.args:
            continue
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Attribute):
            continue
        if _REGISTERS.search(index.text(owner)):
            continue
        layers = _layers_listed(index, made.args[0])
        if layers and all(_is_in_plain_list(index, owner, one) and not _has_moved(index, one) for one in layers):
            yield made, layers[0]


def _layers_listed(index: SemanticIndex, listed: ast.expr, depth: int = 0) -> list[ast.expr]:
    """The layers whose parameters are listed: ``block`` of ``list(block.parameters())``, and what lists are given."""
    found: list[ast.expr] = []
    for node in (listed, *index.tree.inside(listed)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parameters":
            found.append(node.func.value)
    if isinstance(listed, ast.Name | ast.Attribute) and depth < _DEPTH:
        for given in added_to(index, listed, "extend"):
            found += _layers_listed(index, given, depth + 1)
        for binding in index.flow.bindings_of(listed):
            if binding.kind in ("assign", "augment") and binding.value is not None and not binding.path:
                found += _layers_listed(index, binding.value, depth + 1)
    return found


def _is_in_plain_list(index: SemanticIndex, owner: ast.ClassDef, layer: ast.expr) -> bool:
    """Whether a layer stands in a list of Python: it was appended to one, or comes from a loop over one."""
    if isinstance(layer, ast.Subscript):
        return _is_plain_list(index, layer.value)
    if not isinstance(layer, ast.Name):
        return False
    if any(
        binding.kind == "loop"
        and not binding.path
        and binding.value is not None
        and _is_plain_list(index, binding.value)
        for binding in index.flow.reaching(layer)
    ):
        return True
    return any(
        len(call.args) == 1
        and isinstance(call.args[0], ast.Name)
        and call.args[0].id == layer.id
        and index.function_of(call) is index.function_of(layer)
        and _is_plain_list(index, receiver)
        for call, receiver in index.method_calls("append")
        if index.tree.encloses(owner, call)
    )


def _is_plain_list(index: SemanticIndex, node: ast.expr) -> bool:
    bindings = [one for one in index.flow.bindings_of(node) if one.kind == "assign"]
    return bool(bindings) and all(isinstance(element_of(one), ast.List | ast.ListComp) for one in bindings)


def _has_moved(index: SemanticIndex, layer: ast.expr) -> bool:
    """Whether a layer is on the device before its parameters are listed."""
    moves = index.moves
    found = moves.creations.of(layer)
    return any(moves.to_device(call) is not None for creation in found for call in creation.way) or any(
        creation.overlaps(other) and moves.precedes(move.call, layer) is not False
        for move in moves.moves
        for other in move.creations
        for creation in found
    )
