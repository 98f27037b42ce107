"""``tensor.is_cuda``: false for every tensor on an XLA device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding, Span
from tpulint.semantic import Kind
from tpulint.semantic.passed_arguments import arguments_given

_BINDS_TIGHTER = (ast.Compare, ast.BinOp)


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    is_own = _is_given(ctx)
    for node in index.tree.attributes:
        if node.attr != "is_cuda" or not isinstance(node.ctx, ast.Load) or index.qualified_name(node) is not None:
            continue
        if any(isinstance(ancestor, ast.JoinedStr) for ancestor in index.tree.ancestors(node)):
            continue
        parent = index.parent(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            continue
        if index.devices.is_for_cuda(node) or _knows_others(ctx, node):
            continue
        # What else it may guard, such as kernels written for CUDA, is rightly left out.
        places = index.devices.features.placement.is_decided_by(node) or _is_handed_on(ctx, node)
        if not places or index.devices.features.guards_cuda_only(node):
            continue
        certain = index.kind(node.value) is Kind.TENSOR
        if is_own and not certain:
            continue
        fix = ctx.fix(
            "Ask for the XLA device",
            Applicability.UNSAFE,
            "What the test guards now runs for tensors on the XLA device.",
        )
        end = index.span(node).end
        fix.replace(Span(end - len("is_cuda"), end), fix.emit.is_on_device())
        if isinstance(parent, _BINDS_TIGHTER):
            start = index.span(node).start
            fix.insert(start, "(")
            fix.insert(end, ")")
        message = f"`{ctx.text(node)}` is false for a tensor on an XLA device"
        yield ctx.finding(node, message, fix, certainty=Certainty.CERTAIN if certain else Certainty.LIKELY)


def _is_handed_on(ctx: FileContext, node: ast.expr) -> bool:
    """``self.edges(count, cuda=x.is_cuda)``, named before or not: whether a function here decides a place by it."""
    index = ctx.index
    statement = index.parent(node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    named = index.names.loads(target.id, index.names.scope_of(target)) if isinstance(target, ast.Name) else []
    for item in (node, *named):
        parent = index.parent(item)
        call = index.parent(parent) if isinstance(parent, ast.keyword) else parent
        function = index.definitions.function_called(call) if isinstance(call, ast.Call) else None
        if function is None or not isinstance(call, ast.Call):
            continue
        given = arguments_given(call, function, index.tree.class_of(function) is not None)
        for name in (name for name, value in given if value is item):
            asked = index.names.loads(name, index.names.scope_of(function.body[0]))
            if any(map(index.devices.features.placement.is_decided_by, asked)):
                return True
    return False


def _is_given(ctx: FileContext) -> bool:
    """Whether objects of the file have an ``is_cuda`` of their own, as no tensor is given one."""
    return any("is_cuda" in given for given in ctx.index.names.attributes.values()) or any(
        function.name == "is_cuda" for function in ctx.index.tree.functions
    )


def _knows_others(ctx: FileContext, node: ast.Attribute) -> bool:
    """Whether the condition asks for XLA as well: ``x.is_cuda or x.device.type == "xla"``."""
    condition: ast.AST = node
    while isinstance(parent := ctx.index.parent(condition), ast.BoolOp):
        condition = parent
    return "xla" in ctx.text(condition)
