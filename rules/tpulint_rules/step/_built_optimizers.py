"""Calls that build an optimizer, and the modules whose parameters it gets."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.semantic import FUNCTIONS, Kind
from tpulint.semantic.torch_facts import OPTIMIZER_PREFIXES, OPTIMIZERS

_GIVES_PARAMETERS = ("parameters", "named_parameters")


def builds_optimizer(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a call makes an optimizer."""
    name = ctx.index.qualified_name(call.func)
    found = ctx.index.imported.called(call)
    if found is not None and not found.is_class:
        return ctx.index.kind(call) is Kind.OPTIMIZER
    if ctx.index.names.is_taken_from(call.func, OPTIMIZERS):
        return True
    if name is None:
        # A function of this file that builds one is looked into where it does.
        return ctx.index.definitions.class_called(call) is not None and ctx.index.kind(call) is Kind.OPTIMIZER
    return name.startswith(OPTIMIZER_PREFIXES) and ctx.index.kind(call) is Kind.OPTIMIZER


def modules_of(ctx: FileContext, optimizer: ast.Call) -> list[ast.expr]:
    """The modules whose parameters an optimizer is built from."""
    found: list[ast.expr] = []
    waiting: list[ast.expr] = [*optimizer.args, *(item.value for item in optimizer.keywords)]
    seen: set[ast.AST] = set()
    while waiting and len(seen) < 40:
        root = waiting.pop()
        if root in seen:
            continue
        seen.add(root)
        for node in (root, *ctx.index.tree.inside(root)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in _GIVES_PARAMETERS
            ):
                found.append(node.func.value)
                continue
            if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            if ctx.index.kind(node) is Kind.MODULE:
                found.append(node)
            elif isinstance(node, ast.Name):
                # a list of parameters made beforehand, or handed in
                for binding in ctx.index.flow.reaching(node):
                    if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
                        waiting.extend(ctx.index.definitions.arguments.of(binding.statement, binding.name))
                    elif binding.value is not None and ctx.index.kind(node) not in (Kind.LOADER, Kind.DEVICE):
                        waiting.append(binding.value)
                waiting.extend(_added_to(ctx, node))
    return found


def _added_to(ctx: FileContext, name: ast.Name) -> Iterator[ast.expr]:
    """What ``.append``, ``.extend`` and ``.add_param_group`` put into a list."""
    scope = ctx.index.names.scope_of(name)
    for call, receiver in ctx.index.method_calls("append", "extend"):
        if isinstance(receiver, ast.Name) and receiver.id == name.id and ctx.index.names.scope_of(receiver) is scope:
            yield from call.args
