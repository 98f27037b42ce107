"""The result of a collective that is still pending, read on some of the processes only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic import Binding, FunctionNode

_IN_PLACE = frozenset({
    "torch.distributed.all_reduce", "torch.distributed.reduce", "torch.distributed.broadcast",
    "torch.distributed.all_gather", "torch.distributed.all_gather_into_tensor", "torch.distributed.reduce_scatter",
    "torch.distributed.reduce_scatter_tensor",
})  # fmt: skip
"""Collectives that put their result into their first argument; a list stands for its tensors."""
_RETURNING = frozenset({
    "torch_xla.core.xla_model.all_reduce", "torch_xla.core.xla_model.all_gather",
    "torch_xla.core.xla_model.reduce_scatter", "torch_xla.core.xla_model.all_to_all",
})  # fmt: skip
_BOUNDARIES = (
    "torch_xla.sync", "tpulint_runtime.backend.sync", "torch_xla.core.xla_model.mark_step",
    "torch_xla.core.xla_model.wait_device_ops",
    "torch_xla.core.xla_model.rendezvous", "torch_xla.core.xla_model.mesh_reduce",
)  # fmt: skip
_READS = ("item", "tolist", "cpu", "numpy")
_CASTS = ("builtins.float", "builtins.int", "builtins.print", "builtins.str", "builtins.format")
_DEPTH = 4


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not (index.process_groups.on_device or index.launches or index.mentions(r"xla_model")):
        return
    collectives = list(_collectives(ctx))
    if not collectives:
        return
    guards = ((read, tensor, index.ranks.condition_of(read)) for read, tensor in _reads(ctx))
    reads = [(read, tensor, guard) for read, tensor, guard in guards if guard is not None]
    told: set[ast.If] = set()
    for read, tensor, guard in reads:
        if guard in told:
            continue
        collective = next((call for call, name in collectives if _is_pending(ctx, call, name, tensor, guard)), None)
        if collective is None:
            continue
        told.add(guard)
        yield ctx.finding(
            read,
            f"`{ctx.text(read)}` runs the collective that is pending in it, and on some processes only: the others run "
            "it later, in another graph, and each side waits for the other",
            _end_step_first(ctx, guard),
            certainty=Certainty.LIKELY,
            related=((index.span(collective), "the collective"), (index.span(guard.test), "depends on the rank")),
        )


def _reads(ctx: FileContext) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Expressions that fetch a value, with what they fetch."""
    yield from ctx.index.method_calls(*_READS)
    for call in ctx.index.calls_to(*_CASTS):
        for argument in call.args:
            yield call, argument
    for node in ctx.index.tree.fstrings:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield node, part.value


def _collectives(ctx: FileContext) -> Iterator[tuple[ast.Call, str]]:
    """Collectives that every process reaches, with the variable that holds their result."""
    for call in ctx.index.calls:
        name = ctx.index.qualified_name(call.func) or ""
        function = None if name else ctx.index.definitions.function_called(call)
        if name in _IN_PLACE and call.args:
            result: ast.expr | None = call.args[0]
        elif name in _RETURNING or (function is not None and _reduces(ctx, function)):
            statement = ctx.index.parent(call)
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            result = targets[0] if len(targets) == 1 else None
        else:
            continue
        if isinstance(result, ast.Name) and ctx.index.ranks.condition_of(call) is None:
            yield call, result.id


def _reduces(ctx: FileContext, function: FunctionNode) -> bool:
    """Whether a function of this file makes its result with a collective and leaves it pending."""
    calls = [node for node in ctx.index.tree.inside(function, functions=False) if isinstance(node, ast.Call)]
    names = {ctx.index.qualified_name(call.func) for call in calls}
    reads = any(isinstance(call.func, ast.Attribute) and call.func.attr in _READS for call in calls)
    return bool(names & (_IN_PLACE | _RETURNING)) and not names & set(_BOUNDARIES) and not reads


def _is_pending(ctx: FileContext, call: ast.Call, name: str, tensor: ast.expr, guard: ast.If) -> bool:
    """Whether the value that is read comes from the collective, and no process has ended the step in between."""
    index = ctx.index
    if index.function_of(call) is not index.function_of(guard) or index.tree.end(call) > index.tree.start(guard):
        return False
    above: ast.stmt = index.statement_of(call)
    while isinstance(holder := index.parent(above), ast.With):
        above = holder  # `with torch.no_grad():` runs once, and always
    if not any(index.tree.encloses(item, guard) for item in index.tree.suite_of(above)):
        return False
    if not any(_comes_from(ctx, node, name, call, 0) for node in (tensor, *index.tree.inside(tensor))):
        return False
    return not _ends_between(ctx, call, name, guard)


def _comes_from(ctx: FileContext, node: ast.AST, name: str, call: ast.Call, depth: int) -> bool:
    if not isinstance(node, ast.Name) or depth > _DEPTH:
        return False
    if node.id == name:
        return True
    return any(_made_from(ctx, binding, name, call, depth + 1) for binding in ctx.index.flow.reaching(node))


def _made_from(ctx: FileContext, binding: Binding, name: str, call: ast.Call, depth: int) -> bool:
    value = binding.value
    if binding.kind != "assign" or value is None or ctx.index.tree.start(value) < ctx.index.tree.end(call):
        return False
    parts = [value, *ctx.index.tree.inside(value)]
    if any(isinstance(part, ast.Call) and _fetches(ctx, part) for part in parts):
        return False  # every process has read it
    return any(_comes_from(ctx, part, name, call, depth) for part in parts)


def _fetches(ctx: FileContext, call: ast.Call) -> bool:
    func = call.func
    method = isinstance(func, ast.Attribute) and func.attr in _READS
    return method or ctx.index.qualified_name(func) in ("builtins.float", "builtins.int")


def _ends_between(ctx: FileContext, call: ast.Call, name: str, guard: ast.If) -> bool:
    """Whether all processes run what is pending between the collective and the condition."""
    index = ctx.index
    start, end = index.tree.end(call), index.tree.start(guard.body[0])
    function = index.function_of(call)
    for other in index.calls:
        if not start <= index.tree.start(other) < end or index.function_of(other) is not function:
            continue
        if index.qualified_name(other.func) in _BOUNDARIES:
            return True
        read = _fetches(ctx, other) and any(
            isinstance(node, ast.Name) and _comes_from(ctx, node, name, call, 0) for node in index.tree.inside(other)
        )
        if read and index.ranks.condition_of(other) is None:
            return True
    boundaries = (boundary for loop in index.step_loops for boundary in loop.boundaries)
    return any(start <= index.tree.start(boundary) < end for boundary in boundaries if isinstance(boundary, ast.expr))


def _end_step_first(ctx: FileContext, guard: ast.If) -> FixBuilder | None:
    if ctx.text(guard).startswith("elif"):
        return None
    fix = ctx.fix(
        "Run what is pending on every process first",
        Applicability.UNSAFE,
        "It is taken for certain that every process comes to this place.",
        Scope.STATEMENT,
    )
    fix.insert_before(guard, fix.emit.boundary(guard))
    return fix
