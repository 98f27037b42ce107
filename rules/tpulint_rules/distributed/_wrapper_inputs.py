"""What a wrapper around a model did with its inputs on GPUs: it moved them to the device of the process."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability
from tpulint.semantic import FUNCTIONS, Binding, Kind, Side

_DEPTH = 4
_WHOLE_BATCHES = frozenset({"batch", "batched_inputs", "batch_data", "data", "sample", "samples"})


def move_inputs(ctx: FileContext, fix: FixBuilder, wrapper: ast.Call) -> bool:
    """Move what is passed to the wrapped model from the host, as the wrapper did. Returns whether there is any.

    Whoever moves one part of a batch moves all of its tensors: the parts beside it are texts, names and numbers.
    """
    moved = False
    for call in ctx.index.calls:
        if not isinstance(call.func, ast.Name | ast.Attribute) or not _means(ctx, call.func, wrapper, 0):
            continue
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        values = [(argument, ctx.index.value(argument)) for argument in arguments]
        if any(value.kind is Kind.TENSOR and value.side is not Side.HOST for _, value in values):
            continue
        for argument, value in values:
            if value.kind is not Kind.TENSOR or value.side is not Side.HOST:
                continue
            if isinstance(argument, ast.Name) and argument.id in _WHOLE_BATCHES and not value.certain:
                continue  # a dict or a list, as likely as a tensor
            if not value.certain:
                fix.lower(Applicability.UNSAFE, "What is passed to the model is likely on the host, and is moved now.")
            moved = True
            if _is_list(ctx, argument):
                fix.replace(argument, f"[part.to({fix.device(argument)}) for part in {ctx.text(argument)}]")
            else:
                fix.append(argument, f".to({fix.device(argument)})")
    return moved


def _is_list(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a part of a batch is a list: ``crops[0].size(0)`` counts the samples of the first view."""
    return isinstance(node, ast.Name) and any(
        isinstance(part := use.value, ast.Subscript)
        and isinstance(part.value, ast.Name)
        and part.value.id == node.id
        and isinstance(part.slice, ast.Constant)
        and ctx.index.tree.function_of(part) is ctx.index.tree.function_of(node)
        for name in ("size", "shape")
        for use in ctx.index.tree.attributes_called(name)
    )


def _means(ctx: FileContext, node: ast.expr, wrapper: ast.Call, depth: int) -> bool:
    """Whether a variable may hold what the wrapper's call gave."""
    if node is wrapper:
        return True
    if depth > _DEPTH:
        return False
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _means(ctx, node.func.value, wrapper, depth)  # DDP(model).to(device)
    bindings: tuple[Binding, ...] = ()
    if isinstance(node, ast.Name):
        bindings = ctx.index.flow.reaching(node)
    elif isinstance(node, ast.Attribute):
        bindings = ctx.index.flow.reaching_attribute(node)
    return any(_means(ctx, value, wrapper, depth + 1) for binding in bindings for value in _values(ctx, binding))


def _values(ctx: FileContext, binding: Binding) -> Iterator[ast.expr]:
    if binding.kind == "assign" and not binding.path and binding.value is not None:
        yield binding.value
    elif binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
        yield from ctx.index.definitions.arguments_for(binding.statement, binding.name)
