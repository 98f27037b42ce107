"""Conditions of autocasts and scalers that compare a device, which others give, with CUDA's name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.semantic.devices.device_sites import Role
from tpulint.semantic.syntax.variables import last_name, says_device

_PLAIN = ("type", "str", "split")
"""Last names of what is read of a device to be compared: ``device.type``, ``str(device)``, ``device.split(":")[0]``."""


def is_device(node: ast.expr) -> bool:
    """``device``, ``self.device.type``, ``str(device)``, ``device.split(":")[0]``"""
    while True:
        if isinstance(node, ast.Call) and last_name(node.func) in _PLAIN:
            node = node.args[0] if isinstance(node.func, ast.Name) and node.args else node.func
        elif isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr in _PLAIN):
            node = node.value
        else:
            return isinstance(node, ast.Name | ast.Attribute) and says_device(last_name(node))


def name_xla(ctx: FileContext, fix: FixBuilder, calls: Iterable[ast.Call]) -> None:
    """Ask for XLA's name where CUDA's decides whether there is an autocast or scaler, and whether it is on.

    Where the file chooses the device itself, the rule that names XLA's writes the comparisons, too.
    """
    known = {site.node for site in ctx.index.devices.sites if site.role is Role.COMPARISON}
    asked = dict.fromkeys(name for call in calls for test in _tests(ctx, call) for name in _names(test))
    for name in asked:
        if name not in known:
            fix.replace(name, ctx.text(name).replace("cuda", "xla"))


def _tests(ctx: FileContext, call: ast.Call) -> Iterator[ast.expr]:
    """What a call is told, and what it takes for it to be made: nothing else goes by that."""
    yield from (item.value for item in call.keywords if item.arg == "enabled")
    child: ast.AST = call
    while isinstance(parent := ctx.index.parent(child), ast.IfExp):
        if child is parent.body:
            yield parent.test
        child = parent
    holder = ctx.index.parent(parent) if isinstance(parent, ast.Assign) else None
    if isinstance(holder, ast.If) and holder.body == [parent]:
        yield holder.test


def _names(test: ast.expr) -> Iterator[ast.expr]:
    """CUDA's name in ``"cuda" in str(device) and half``, as a text of its own."""
    for part in test.values if isinstance(test, ast.BoolOp) else ():
        yield from _names(part)
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr == "startswith":
        yield from (item for item in test.args if _is_cuda(item) and is_device(test.func.value))
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return
    left, operator, right = test.left, test.ops[0], test.comparators[0]
    if _is_cuda(left) and isinstance(operator, ast.In) and is_device(right):
        yield left
    elif isinstance(operator, ast.Eq) and _is_cuda(right) and is_device(left) and not isinstance(left, ast.Call):
        yield right  # the text of a device object has its number in it: `str(device) == "cuda"`
    elif isinstance(operator, ast.In) and isinstance(right, ast.Tuple | ast.List | ast.Set) and is_device(left):
        yield from (item for item in right.elts if _is_cuda(item) and not isinstance(left, ast.Call))


def _is_cuda(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "cuda"
