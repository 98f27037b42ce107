"""What is computed where it stands, or by what is called there: neither kept before nor handed in."""

from __future__ import annotations

import ast

from tpulint.semantic.project.other_files import Definition, definition_called, returned
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.values.contents import key_of
from tpulint.semantic.values.kinds import Kind
from tpulint.semantic.values.value import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 4
"""Functions and variables that are looked into one from another."""
_SAME = frozenset({
    "detach", "to", "cuda", "xla", "requires_grad_", "contiguous", "float", "double", "half", "long",
    "view", "reshape", "squeeze", "unsqueeze", "flatten", "permute", "transpose", "t", "expand", "narrow",
})  # fmt: skip
"""Methods that may give the very tensor that they are called on, or another look at it."""
_FETCHING = frozenset({"cpu", "tolist", "numpy", "item"})


def is_computed_elsewhere(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether the functions of other files that a call may run compute what it gives, or the element of it."""
    path: Path = ()
    while isinstance(node, ast.Subscript):
        path = (key_of(node), *path)
        node = node.value
    values = _returned_by_all(index, node) if isinstance(node, ast.Call) else []
    return bool(values) and all(_is_left_by(found.file, value, path) for found, value in values)


def parts_computed_elsewhere(index: SemanticIndex, call: ast.Call) -> list[bool]:
    """Of each part that a call gives, whether it is a tensor of the device that a function of another file computes.

    Empty where the function does not always give as many parts.
    """
    values = _returned_by_all(index, call)
    tuples = [(found.file, value.elts) for found, value in values if isinstance(value, ast.Tuple)]
    if len(tuples) < len(values) or len({len(parts) for _, parts in tuples}) != 1:
        return []
    return [
        all(_is_left_by(file, parts[at]) for file, parts in tuples) and _is_part_on_device(index, call, at)
        for at in range(len(tuples[0][1]))
    ]


def _is_part_on_device(index: SemanticIndex, call: ast.Call, at: int) -> bool:
    value = index.kinds.elements.part(call, (at,))
    return value.kind is Kind.TENSOR and value.side is value.side.DEVICE


def _returned_by_all(index: SemanticIndex, call: ast.Call) -> list[tuple[Definition, ast.expr]]:
    """What the functions of other files return that a call may run; empty where one of them ends a step, or trains."""
    values: list[tuple[Definition, ast.expr]] = []
    for found in index.imported.all_called(call):
        if not isinstance(found.node, FUNCTIONS) or found.file.kinds.functions.yields(found.node):
            return []
        events = found.file.regions.events.of(found.node)
        given = returned(found)
        if events.boundaries or events.updates or not given:
            return []
        values += [(found, value) for value in given]
    return values


def _is_left_by(file: SemanticIndex, node: ast.expr, path: Path = ()) -> bool:
    """Whether a function computes what it returns, and does not read it itself, which would run it."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    is_fetched = any(isinstance(part, ast.Name) and _is_fetched(file, part) for part in parts)
    return not is_fetched and is_computed(file, node, path)


def is_computed(file: SemanticIndex, node: ast.expr, path: Path = (), depth: int = 0) -> bool:
    """Whether a file computes an expression, or the part of it that a path says."""
    if depth > _DEPTH:
        return False
    if isinstance(node, ast.Tuple):
        at = path[0] if path else None
        return isinstance(at, int) and 0 <= at < len(node.elts) and is_computed(file, node.elts[at], path[1:], depth)
    if isinstance(node, ast.BinOp | ast.Compare):
        return True
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not)
    if isinstance(node, ast.IfExp):
        return all(is_computed(file, side, path, depth) for side in (node.body, node.orelse))
    if isinstance(node, ast.Subscript):
        return is_computed(file, node.value, (key_of(node), *path), depth)
    if isinstance(node, ast.Name):
        bindings = file.flow.reaching(node)
        return bool(bindings) and all(_is_bound(file, one, path, depth) for one in bindings)
    return isinstance(node, ast.Call) and _is_call_computed(file, node, path, depth)


def _is_bound(file: SemanticIndex, binding: Binding, path: Path, depth: int) -> bool:
    """Whether a variable gets what is computed."""
    if binding.kind == "augment":
        return True
    if binding.kind != "assign" or binding.value is None:
        return False
    return is_computed(file, binding.value, (*binding.path, *path), depth + 1)


def _is_fetched(file: SemanticIndex, name: ast.Name) -> bool:
    """Whether a function reads a variable itself, which runs what it waits for."""
    scope = file.names.scope_of(name)
    parents = map(file.parent, file.names.mentions(name.id, scope))
    return any(isinstance(parent, ast.Attribute) and parent.attr in _FETCHING for parent in parents)


def _is_call_computed(file: SemanticIndex, call: ast.Call, path: Path, depth: int) -> bool:
    func = call.func
    if file.kind(func) is Kind.MODULE:
        return True
    name = file.qualified_name(func)
    if name in facts.VARIABLES or name in facts.COPIES:
        return bool(call.args) and is_computed(file, call.args[0], path, depth)
    called = definition_called(file, call)
    if called is not None:
        values = returned(called)
        return bool(values) and all(is_computed(called.file, value, path, depth + 1) for value in values)
    if name is not None:
        return name.startswith("torch.") and name not in facts.TORCH_HOST_CALLS
    if not isinstance(func, ast.Attribute):
        return False
    if func.attr in _SAME:
        return is_computed(file, func.value, path, depth)
    return func.attr in facts.TENSOR_METHODS and func.attr not in _FETCHING
