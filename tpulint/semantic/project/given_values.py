"""The values that a call gives a function of another file, its devices among them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.project.outside import ELEMENT_AT
from tpulint.semantic.syntax.variables import is_configuration, last_name, says_device
from tpulint.semantic.values.mapped_elements import LISTS
from tpulint.semantic.values.value import HOST_DEVICE, UNKNOWN, Kind, Side, Value, is_cpu, is_none, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_MAY_HOLD = (ast.Name, ast.Attribute, ast.Dict, ast.List, ast.Tuple)
"""Expressions that may give a list or a dictionary of tensors."""


def gives_device(index: SemanticIndex, given: ast.expr) -> bool:
    """Whether what a call gives is a device, that of the host or one which the file calls by CUDA's name."""
    return index.kinds.sides.is_host(given, surely=True) or any(True for _ in gpus_in(index, given))


def is_place_of_options(index: SemanticIndex, item: ast.expr) -> bool:
    """Whether options hold a device to which the file moves things: ``config.device`` beside ``x.to(config.device)``"""
    if not isinstance(item, ast.Attribute) or not says_device(item.attr) or not is_configuration(last_name(item.value)):
        return False
    text = index.text(item)
    moves = index.method_calls("to") if index.kinds.mentions_device or index.moves.has_device else ()
    return any(
        call.args and isinstance(call.args[0], ast.Attribute) and index.text(call.args[0]) == text for call, _ in moves
    )


def value_given(index: SemanticIndex, item: ast.expr) -> Value:
    """What a call gives; a list of tensors, ``[part.to(device) for part in batch]``, as the batch that it is."""
    if is_none(item):
        return UNKNOWN  # of what other calls give, `None` says nothing
    value = HOST_DEVICE if is_cpu(item) else index.value(item)
    if value.kind is Kind.UNKNOWN and is_place_of_options(index, item):
        return Value(Kind.DEVICE, certain=False)
    bindings = index.flow.made(item) if isinstance(item, ast.Name) and value.kind is Kind.HOST else ()
    parts = [part for one in bindings if (part := _part_listed(index, one.value)) is not None]
    is_batch = bool(parts) and len(parts) == len(bindings) and all(part.kind is Kind.TENSOR for part in parts)
    return parts[0]._replace(certain=False) if is_batch else value


def _part_listed(index: SemanticIndex, listed: ast.expr | None) -> Value | None:
    """One of ``[part.to(device) for part in batch]``, or of ``list(map(lambda part: part.to(device), batch))``."""
    if isinstance(listed, ast.ListComp):
        return index.value(listed.elt)
    is_list = isinstance(listed, ast.Call) and index.qualified_name(listed.func) in LISTS
    mapped = listed.args[0] if is_list and isinstance(listed, ast.Call) and len(listed.args) == 1 else None
    is_map = isinstance(mapped, ast.Call) and index.qualified_name(mapped.func) == "builtins.map"
    return index.kinds.content(mapped, None, 0) if is_map and mapped is not None else None


def element_given(index: SemanticIndex, item: ast.expr) -> Value:
    """What is in a list or a dictionary that a call gives, or tensors of the device that it makes: ``parameters()``."""
    placed = index.kinds.placed(item, None, 0)  # `for key, part in batch.items(): batch[key] = part.to(device)`
    if placed.kind is not Kind.UNKNOWN:
        return placed
    if index.kind(item) not in (Kind.HOST, Kind.UNKNOWN):
        return UNKNOWN
    known = index.kinds.content(item, None, 0) if isinstance(item, _MAY_HOLD) else UNKNOWN
    if known.kind is not Kind.UNKNOWN:
        return known
    if isinstance(item, ast.ListComp | ast.GeneratorExp):
        element = index.value(item.elt)
    elif isinstance(item, ast.BinOp):  # `list(encoder.parameters()) + list(decoder.parameters())`
        element = join(element_given(index, side) for side in (item.left, item.right))
    else:
        element = index.kinds.elements.element(item, (), 0) if isinstance(item, ast.Call | ast.Name) else UNKNOWN
    return element if element.kind is Kind.TENSOR and element.side is Side.DEVICE else UNKNOWN


def values_by_key(index: SemanticIndex, name: str, item: ast.expr) -> Iterator[tuple[str, Value]]:
    """What is in a dictionary that a call writes out, where a tensor stands beside what is none or is not known."""
    if not isinstance(item, ast.Dict):
        return
    if None in item.keys:  # `{**batch, **out}`, of which one may be known
        by_text = ((text, index.kinds.content(item, text, 0)) for text in sorted(index.kinds.contents.keys(item)))
        yield from ((ELEMENT_AT.format(name, text), value) for text, value in by_text if value.kind is not Kind.UNKNOWN)
        return
    keys = [key.value for key in item.keys if isinstance(key, ast.Constant)]
    values = [index.value(value) for value in item.values] if keys else []
    if len(keys) == len(values) and len({value.kind for value in values}) > 1:
        for key, value in zip(keys, values, strict=True):
            yield ELEMENT_AT.format(name, key), value


def gpus_in(index: SemanticIndex, item: ast.expr) -> Iterator[str]:
    """Where in what a call gives there is a device that its file calls by CUDA's name: ``.device`` of ``args``."""
    if _is_gpu(index, item):
        yield ""
    if not isinstance(item, ast.Name) or not is_configuration(item.id):
        return
    for node in index.tree.attributes:
        if not says_device(node.attr) or not isinstance(node.value, ast.Name) or node.value.id != item.id:
            continue
        given = index.parent(node) if isinstance(node.ctx, ast.Store) else None
        if isinstance(given, ast.Assign) and index.devices.flow.derives(given.value):
            yield f".{node.attr}"


def _is_gpu(index: SemanticIndex, item: ast.expr) -> bool:
    """Whether a call gives a device that its file calls by CUDA's name."""
    is_text = isinstance(item, ast.Constant) and isinstance(item.value, str)
    if not is_text and not (isinstance(item, ast.Name | ast.Attribute) and says_device(last_name(item))):
        return False
    return index.devices.flow.derives(item)


def described_value(index: SemanticIndex, value: Value) -> tuple[str, str]:
    """Kind and side of a value; a module of a file that has to do with a device is taken to be there."""
    on_device = value.kind is Kind.MODULE and index.kinds.mentions_device
    return value.kind.name, Side.DEVICE.name if on_device else value.side.name
