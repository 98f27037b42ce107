"""A device tensor that is given its size through an alias, ``x.data.resize_(...)``, and keeps the old one itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import Binding
from tpulint.semantic.graphs.lasting_tensors import are_on_device, is_given_one
from tpulint.semantic.syntax.bindings import part_of
from tpulint.semantic.syntax.nodes import LOOPS
from tpulint.semantic.syntax.torch_facts import VARIABLES

_MAKERS = frozenset({"zeros", "ones", "empty", "full", "rand", "randn", "FloatTensor", "LongTensor", "Tensor"})
_MOVES = frozenset({"cuda", "to", "float", "long", "contiguous", "clone"})
_FILLS = frozenset({"fill_", "copy_", "normal_", "uniform_", "zero_", "random_", "bernoulli_"})
"""Methods that give each element another value."""
_DEPTH = 8


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for call, alias in index.method_calls("resize_", "resize_as_"):
        tensor = _aliased(alias)
        if tensor is None or not call.args:
            continue
        bindings = list(index.flow.bindings_of(tensor))
        values = [index.kinds.binding_value(binding) for binding in bindings]
        makers = _makers(ctx, bindings)
        message = (
            f"`{ctx.text(alias)}` is resized alone: `{ctx.text(tensor)}` keeps its size and with it rows of other "
            "batches, and a larger size fails on an XLA device"
        )
        if index.turn_code.turn_of(call) is not None and is_given_one(index, tensor):
            yield ctx.finding(call, message, certainty=Certainty.LIKELY)  # what the caller holds is not to be replaced
            continue
        if not are_on_device(values) or not makers or any(_has_size_of(ctx, call, maker) for maker in makers):
            continue
        yield ctx.finding(
            call,
            message,
            _made_anew(ctx, call, tensor, bindings),
            certainty=Certainty.CERTAIN if all(value.certain for value in values) else Certainty.LIKELY,
        )


def _aliased(alias: ast.expr) -> ast.Name | ast.Attribute | None:
    """The variable behind ``x.data`` or ``x.detach()``."""
    if isinstance(alias, ast.Call) and isinstance(alias.func, ast.Attribute) and alias.func.attr == "detach":
        tensor = alias.func.value
    elif isinstance(alias, ast.Attribute) and alias.attr == "data":
        tensor = alias.value
    else:
        return None
    if isinstance(tensor, ast.Name):
        return tensor
    return tensor if isinstance(tensor, ast.Attribute) and isinstance(tensor.value, ast.Name) else None


def _makers(ctx: FileContext, bindings: list[Binding]) -> list[ast.Call]:
    """The calls that make a buffer without a gradient; none where one of them is not known: maybe a parameter."""
    found = [_maker(ctx, binding, 0) for binding in bindings]
    return [maker for maker in found if maker is not None] if all(maker is not None for maker in found) else []


def _maker(ctx: FileContext, binding: Binding, depth: int) -> ast.Call | None:
    value = part_of(binding.value, binding.path) if binding.kind == "assign" else None
    return None if value is None else _maker_of(ctx, value, depth)


def _maker_of(ctx: FileContext, value: ast.expr, depth: int) -> ast.Call | None:
    if depth > _DEPTH:
        return None
    if isinstance(value, ast.Name | ast.Attribute):
        found = [_maker(ctx, binding, depth + 1) for binding in ctx.index.flow.bindings_of(value)]
        return found[0] if found and all(found) else None
    if not isinstance(value, ast.Call) or any(item.arg in ("requires_grad", None) for item in value.keywords):
        return None
    name = ctx.index.qualified_name(value.func) or ""
    if name in VARIABLES:
        return _maker_of(ctx, value.args[0], depth + 1) if value.args else None
    if name.startswith("torch."):
        return value if name.rpartition(".")[2] in _MAKERS else None
    method = value.func if isinstance(value.func, ast.Attribute) else None
    if method is None:
        return None
    if method.attr.startswith("new_"):
        return value
    return _maker_of(ctx, method.value, depth + 1) if method.attr in _MOVES | _FILLS else None


def _has_size_of(ctx: FileContext, call: ast.Call, maker: ast.Call) -> bool:
    """Whether a tensor is given the size that it was made with, which changes nothing."""
    return [ctx.text(item) for item in call.args] == [ctx.text(item) for item in maker.args]


def _made_anew(
    ctx: FileContext, call: ast.Call, tensor: ast.Name | ast.Attribute, bindings: list[Binding]
) -> FixBuilder | None:
    """``x.data.resize_(n).fill_(1)`` becomes ``x = x.new_empty(n).fill_(1)``."""
    index, name = ctx.index, ctx.text(tensor)
    if not _is_filled(ctx, call, name) or index.mentions(rf"\b{name.replace('.', '[.]')}\s*\.\s*requires_grad"):
        return None
    if isinstance(tensor, ast.Name) and any(
        index.function_of(binding.statement) is not index.function_of(call) for binding in bindings
    ):
        return None  # it would become another variable
    turns = _turns(ctx, call, bindings)
    outside = (load for load in _loads(ctx, tensor, bindings) if turns not in index.tree.ancestors(load))
    if any(_may_be_kept(ctx, load) for load in outside):
        return None
    assert isinstance(call.func, ast.Attribute)
    fix = ctx.fix(
        "Make a new tensor of that size",
        Applicability.UNSAFE,
        "What else holds the old tensor does not see the new values, and rows that were left over are gone.",
    )
    fix.replace(call.func, f"{name} = {name}.new_empty")
    if call.func.attr == "resize_as_":
        fix.append(call.args[0], ".size()")
    return fix


def _is_filled(ctx: FileContext, call: ast.Call, name: str) -> bool:
    """Whether the resized tensor gets all its values at once, here or in the statement below."""
    index, statement = ctx.index, ctx.index.statement_of(call)
    if call.keywords or not isinstance(statement, ast.Expr):
        return False
    if statement.value is not call:
        method = index.parent(call)
        return isinstance(method, ast.Attribute) and method.attr in _FILLS and _is_call_of(statement.value, method)
    below = index.tree.suite_of(statement)[index.tree.position_of(statement) + 1 :][:1]
    value = below[0].value if below and isinstance(below[0], ast.Expr) else None
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.func.attr not in _FILLS:
        return False
    filled = _aliased(value.func.value) or value.func.value
    return ctx.text(filled) == name


def _is_call_of(value: ast.expr, method: ast.Attribute) -> bool:
    return isinstance(value, ast.Call) and value.func is method


def _loads(
    ctx: FileContext, tensor: ast.Name | ast.Attribute, bindings: list[Binding]
) -> Iterator[ast.Name | ast.Attribute]:
    """Where the variable is read in the functions that make it."""
    index = ctx.index
    if isinstance(tensor, ast.Name):
        yield from index.names.loads_of(tensor)
        return
    makers = {index.function_of(binding.statement) for binding in bindings}
    for part in index.tree.attributes_called(tensor.attr):
        if isinstance(part.ctx, ast.Load) and index.function_of(part) in makers:
            yield part


def _turns(ctx: FileContext, call: ast.Call, bindings: list[Binding]) -> ast.AST:
    """The outermost loop around the call that the buffer is made in front of; the call itself where there is none."""
    tree = ctx.index.tree
    loops = [outer for outer in tree.ancestors(call) if isinstance(outer, LOOPS)]
    made = [outer for binding in bindings for outer in tree.ancestors(binding.statement)]
    return next((loop for loop in reversed(loops) if loop not in made), call)


def _may_be_kept(ctx: FileContext, load: ast.Name | ast.Attribute) -> bool:
    """Whether what reads the tensor may give it to another variable, which is to see the new values."""
    if isinstance(ctx.index.parent(load), ast.Attribute):
        return False  # a method of it
    statement = ctx.index.statement_of(load)
    if not isinstance(statement, ast.Assign):
        return True
    # `x, y = Variable(x), Variable(y)`
    bound = [name for target in statement.targets for name in ast.walk(target)]
    return ctx.text(load) not in [ctx.text(name) for name in bound if isinstance(name, ast.Name | ast.Attribute)]
