"""What a value is, and on which side it lives."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from enum import Enum

from tpulint.records import NamedTuple


class Kind(Enum):
    """What a value is."""

    TENSOR = "tensor"
    MODULE = "module"
    DISTRIBUTION = "distribution"
    OPTIMIZER = "optimizer"
    SCHEDULER = "scheduler"
    SCALER = "scaler"
    LOADER = "loader"
    DEVICE = "device"
    NUMPY = "numpy array"
    HOST = "host value"
    UNKNOWN = "unknown"


class Side(Enum):
    """Where a tensor lives."""

    DEVICE = "device"
    HOST = "host"
    UNKNOWN = "unknown"


class Value(NamedTuple):
    """What is known about an expression."""

    kind: Kind
    side: Side = Side.UNKNOWN
    certain: bool = True


UNKNOWN = Value(Kind.UNKNOWN, certain=False)
HOST = Value(Kind.HOST, Side.HOST)
NUMPY = Value(Kind.NUMPY, Side.HOST)
BATCH = Value(Kind.TENSOR, Side.HOST, certain=False)
HOST_DEVICE = Value(Kind.DEVICE, Side.HOST)

Path = tuple[int | str | None, ...]
"""Where a part is in what is unpacked or asked for an element: places and keys, from outside in; None for any."""

LARGEST_DEPTH = 48
"""Of questions that wait for each other; past it the answer is UNKNOWN."""


def combine(values: Sequence[Value]) -> Value:
    """Result of an operator on these operands."""
    tensors = [value for value in values if value.kind is Kind.TENSOR]
    if tensors:
        sides = {value.side for value in tensors}
        side = Side.DEVICE if Side.DEVICE in sides else sides.pop() if len(sides) == 1 else Side.UNKNOWN
        return Value(Kind.TENSOR, side, all(value.certain for value in tensors))
    if any(value.kind is Kind.NUMPY for value in values):
        return NUMPY
    if values and all(value.kind is Kind.HOST for value in values):
        return HOST
    return UNKNOWN


def join(values: Iterable[Value]) -> Value:
    """What is known when any of these may be the value."""
    known: list[Value] = []
    doubt = False
    for value in values:
        if value.kind is Kind.UNKNOWN:
            doubt = True
        elif value not in known:
            known.append(value)
    if not known:
        return UNKNOWN
    kinds = {value.kind for value in known}
    if len(kinds) > 1:
        # `loss = 0` before `loss = criterion(...)`, `model = None` before the real one
        kinds.discard(Kind.HOST)
        known = [value for value in known if value.kind is not Kind.HOST]
        doubt = True
        if len(kinds) > 1:
            return UNKNOWN
    sides = {value.side for value in known}
    side = sides.pop() if len(sides) == 1 else Side.UNKNOWN
    return Value(known[0].kind, side, not doubt and all(value.certain for value in known))


def is_none(node: ast.expr | None) -> bool:
    """Whether an expression is the constant None."""
    return isinstance(node, ast.Constant) and node.value is None


def beside_none(node: ast.expr) -> ast.expr:
    """``Loss()`` of ``Loss() if flag else None``, and anything else itself."""
    if isinstance(node, ast.IfExp) and (is_none(node.body) or is_none(node.orelse)):
        return node.orelse if is_none(node.body) else node.body
    return node


def is_cpu(node: ast.expr) -> bool:
    """Whether an expression is the name of the host's device, as it is written: ``"cpu"``."""
    return isinstance(node, ast.Constant) and node.value == "cpu"


def is_true(node: ast.AST | None) -> bool:
    """Whether an expression is the constant True."""
    return isinstance(node, ast.Constant) and node.value is True


def is_key(node: ast.expr) -> bool:
    """Whether an index is one of a dictionary for sure: ``x["color"]``, ``x["color", 0]``."""
    return is_text(node.elts[0]) if isinstance(node, ast.Tuple) and node.elts else is_text(node)


def is_text(node: ast.expr) -> bool:
    """Whether an expression is a text that is written down."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
