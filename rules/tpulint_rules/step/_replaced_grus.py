"""Layers of which torch_xla replaces the class, made by its own name, by another one, or by a class that is chosen."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic import SemanticIndex
from tpulint.semantic.values.origins import origins

GRU = "torch.nn.GRU"
_PARTIAL = "functools.partial"
_NAMED = r"""["']GRU["']"""
_OF_RECURRENT_LAYERS = frozenset({"input_size", "hidden_size", "num_layers", "batch_first"})
"""Arguments that of torch's layers the recurrent ones alone take."""
_DEPTH = 4


def is_replaced(index: SemanticIndex, node: ast.AST) -> bool:
    """Whether an expression makes a GRU that runs in one direction."""
    return isinstance(node, ast.Call) and index.qualified_name(node.func) == GRU and _runs_in_one_direction(node)


def replaced_classes(index: SemanticIndex) -> Iterator[ast.expr]:
    """What makes, or may make, a GRU that runs in one direction: calls of its class, whatever name that has here.

    Where the file only chooses the class and others make the layer, what it chooses is meant: ``{"gru": nn.GRU}``.
    """
    yield from (call for call in index.calls_to(GRU) if _runs_in_one_direction(call))
    named = [node for node, name in index.references(GRU) if name == GRU and not _is_called(index, node)]
    reached: set[ast.AST] = set()
    if named or index.mentions(r"\bgetattr\("):
        for call in index.calls:
            if len(call.args) + len(call.keywords) > 1 and index.qualified_name(call.func) is None:
                found = set(_classes_meant(index, call, call.func, 0))
                reached |= found
                if found and _runs_in_one_direction(call):
                    yield call
    if not index.mentions("bidirectional"):  # nobody knows in which files it is made, and how
        yield from (node for node in named if node not in reached and _is_offered(index, node))


def _classes_meant(index: SemanticIndex, made: ast.Call, func: ast.expr, depth: int) -> Iterator[ast.expr]:
    """Where the class stands that a call may make an instance of: in branches, dictionaries, partials, arguments."""
    for node in (origin.node for origin in origins(index, func)):
        if index.qualified_name(node) == GRU or _is_asked_by_name(index, made, node):
            yield node
        elif depth < _DEPTH:
            for part in _parts_chosen(index, node):
                yield from _classes_meant(index, made, part, depth + 1)


def _parts_chosen(index: SemanticIndex, node: ast.expr) -> Iterator[ast.expr]:
    """``kinds[kind]``, ``kinds.get(kind)``: one of what a dictionary holds; what ``partial(nn.GRU)`` calls."""
    if isinstance(node, ast.Subscript):
        yield from _values_of(index, node.value, node.slice)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        yield from _values_of(index, node.func.value, node.args[0])
    elif isinstance(node, ast.Call) and index.qualified_name(node.func) == _PARTIAL and _runs_in_one_direction(node):
        yield from node.args[:1]


def _values_of(index: SemanticIndex, whole: ast.expr, key: ast.expr) -> Iterator[ast.expr]:
    """What a dictionary of this file, or a class of it, holds by a key, or by any where that is computed."""
    for node in (origin.node for origin in origins(index, whole)):
        for name, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
            written = isinstance(key, ast.Constant) and isinstance(name, ast.Constant)
            if not written or key.value == name.value:  # type: ignore[attr-defined,union-attr]
                yield value


def _is_asked_by_name(index: SemanticIndex, made: ast.Call, node: ast.expr) -> bool:
    """``getattr(nn, kind)(8, 16)``, where the file says "GRU", or what a recurrent layer alone is given."""
    if not index.names.is_taken_from(node, "torch.nn") or not isinstance(node, ast.Call):
        return False
    names = [origin.node for origin in origins(index, node.args[1])]
    texts = [name.value for name in names if isinstance(name, ast.Constant)]
    if "GRU" in texts or len(texts) == len(names):
        return "GRU" in texts
    return index.mentions(_NAMED) or any(item.arg in _OF_RECURRENT_LAYERS for item in made.keywords)


def _is_called(index: SemanticIndex, node: ast.expr) -> bool:
    parent = index.parent(node)
    return isinstance(parent, ast.Call) and parent.func is node


def _is_offered(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether a class stands where others take it to make something: a value by a key, an argument by its name."""
    parent = index.parent(node)
    return isinstance(parent, ast.keyword | ast.arguments) or (isinstance(parent, ast.Dict) and node in parent.values)


def _runs_in_one_direction(call: ast.Call) -> bool:
    both = [item for item in call.keywords if item.arg in ("bidirectional", None)]
    return len(call.args) < 7 and all(
        item.arg is not None and isinstance(item.value, ast.Constant) and item.value.value is False for item in both
    )
