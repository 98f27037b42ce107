"""Constants that are uploaded in every step, where the graph could hold them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic import Kind, Side

_CONSTANTS = frozenset({"torch.zeros", "torch.ones", "torch.eye", "torch.full", "torch.empty", "torch.arange"})
_LIKE = frozenset({"torch.zeros_like", "torch.ones_like", "torch.full_like", "torch.empty_like"})
"""The same of the size of a tensor, which has to be one of the host: on the device there is nothing to move."""
_OTHERWISE = frozenset({"device", "requires_grad", "pin_memory", "out", None})
"""Arguments with which the tensor would not be the same one."""


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for call, made in index.method_calls("to"):
        name = index.qualified_name(made.func) if isinstance(made, ast.Call) else None
        if name not in _CONSTANTS | _LIKE or not isinstance(made, ast.Call) or not made.args:
            continue
        if not _is_constant(ctx, made, name):
            continue
        places = [*call.args, *(item.value for item in call.keywords if item.arg == "device")]
        if len(call.args) + len(call.keywords) != 1 or not places or not _is_device(ctx, call, places[0]):
            continue
        if not index.moves.has_device:
            return
        if not _runs_per_step(ctx, call) or _is_made_once(ctx, call):
            continue
        fix = ctx.fix("Make it on the device", Applicability.SAFE, "The same values, on the same device.")
        fix.set_argument(made, "device", ctx.text(places[0]))
        fix.replace_tail(call, made, "")
        message = f"`{name}` fills memory of the host, which is uploaded in every step; give it the device"
        yield ctx.finding(call, message, fix)


def _is_constant(ctx: FileContext, made: ast.Call, name: str) -> bool:
    """Whether what is made depends on nothing but its size."""
    if any(item.arg in _OTHERWISE for item in made.keywords):
        return False
    if any(isinstance(item, ast.Starred) for item in made.args):
        return False
    if name in _LIKE and not _is_of_host(ctx, made.args[0]):
        return False
    if name in ("torch.full", "torch.full_like"):
        filling = [*made.args[1:2], *(item.value for item in made.keywords if item.arg == "fill_value")]
        return all(_stays(ctx, value) for value in filling)
    return name != "torch.arange" or (len(made.args) == 1 and all(item.arg == "dtype" for item in made.keywords))


def _is_of_host(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a tensor is known to lie on the host: made there, or kept by a module that was given such a one."""
    value = ctx.index.value(node)
    return value.kind is Kind.TENSOR and value.side is Side.HOST


def _stays(ctx: FileContext, number: ast.expr) -> bool:
    """Whether a number is the same in all turns: on the device 0 and 1 are constants, and any other is an input."""
    if isinstance(number, ast.UnaryOp):
        return _stays(ctx, number.operand)
    if isinstance(number, ast.Name) and any(one.kind != "assign" for one in ctx.index.flow.reaching(number)):
        return False  # a counter of turns, or what a caller gives
    is_named = isinstance(number, ast.Name | ast.Attribute)
    return isinstance(number, ast.Constant) or (is_named and ctx.index.changing_numbers.cause(number) is None)


def _is_device(ctx: FileContext, call: ast.Call, place: ast.expr) -> bool:
    """Whether a tensor moves to a device by its name, or to that of another tensor."""
    if ctx.index.kinds.sides.is_host(place):
        return False  # `torch.zeros(n).to(loss_device)`, which is the CPU
    if isinstance(place, ast.Attribute) and place.attr == "device":
        return ctx.index.value(place.value).side is not Side.HOST
    if ctx.index.moves.to_device(call) is True:
        return not isinstance(place, ast.Constant)  # which the rules for GPUs rewrite
    return isinstance(place, ast.Name) and place.id == "device"


def _runs_per_step(ctx: FileContext, call: ast.Call) -> bool:
    """Whether every turn of a loop runs a node, or the forward pass of a module."""
    if ctx.index.turn_code.turn_of(call) is not None:
        return True
    function, owner = ctx.index.function_of(call), ctx.index.tree.class_of(call)
    if function is None or owner is None or function.name != "forward":
        return False
    return ctx.index.definitions.is_module_class(owner)


def _is_made_once(ctx: FileContext, call: ast.Call) -> bool:
    """``if self.mask is None: self.mask = ...``: what is kept is not made again."""
    child: ast.AST = call
    for ancestor in ctx.index.tree.ancestors(call):
        if isinstance(ancestor, ast.If) and child in ancestor.body:
            tests = ancestor.test.values if isinstance(ancestor.test, ast.BoolOp) else [ancestor.test]
            if any(isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is) for test in tests):
                return True
        child = ancestor
    return False
