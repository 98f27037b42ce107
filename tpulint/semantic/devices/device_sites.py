"""What a device site is: a place of a file that names a CUDA device, asks for an accelerator or acquires one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum

from tpulint.records import NamedTuple


class Role(Enum):
    """What a device site is."""

    QUESTION = "asks whether there is a GPU"
    NAME = "names a CUDA device"
    ACQUISITION = "makes a device object"
    COMPARISON = "compares a device with CUDA's name"
    NUMBER = "gives the number of a device as the device"
    GENERATOR = "makes a random generator on the device"


class Site(NamedTuple):
    """One place."""

    node: ast.expr
    """The expression to be rewritten."""
    role: Role
    answer: bool = True
    """Of a question: what it answers on a machine with the accelerator."""
    number: str = ""
    """Of a name: the number behind ``cuda:``; "?" for a computed one."""
    certain: bool = True


def device_argument(call: ast.Call) -> ast.expr | None:
    """What ``torch.device(...)`` is given as the device."""
    if call.args:
        return call.args[0] if not isinstance(call.args[0], ast.Starred) else None
    return next((k.value for k in call.keywords if k.arg in ("type", "device")), None)


def devices_given(move: ast.Call) -> list[ast.expr]:
    """What ``x.to(...)`` and its like are given that may be a device: the first argument, and what is called so."""
    return [*move.args[:1], *(item.value for item in move.keywords if item.arg == "device")]


def branches(node: ast.expr) -> Iterator[ast.expr]:
    """Expressions whose value the whole may have."""
    if isinstance(node, ast.IfExp):
        yield from branches(node.body)
        yield from branches(node.orelse)
    elif isinstance(node, ast.BoolOp):
        for item in node.values:
            yield from branches(item)
    else:
        yield node
