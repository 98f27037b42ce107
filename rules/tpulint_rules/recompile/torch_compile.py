"""``torch.compile`` has no backend that trains on an XLA device."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope
from tpulint.semantic import FUNCTIONS, Kind
from tpulint.semantic.cuda.cuda_mentions import PRINTING
from tpulint.semantic.syntax.blocks import with_emptied_blocks
from tpulint.semantic.syntax.variables import last_name

_PARAMETERS = ("model", "fullgraph", "dynamic", "backend", "mode", "options", "disable")
_XLA_BACKENDS = ("openxla", "openxla_eval", "eager", "aot_eager")


def check(ctx: FileContext) -> Iterator[Finding]:
    for node, name in ctx.index.references("torch.compile"):
        if name != "torch.compile" or not ctx.index.moves.concerns(node) or _is_target(node):
            continue
        call = ctx.index.parent(node)
        is_called = isinstance(call, ast.Call) and call.func is node
        where = call if is_called and isinstance(call, ast.Call) else node
        if where is node and isinstance(call, ast.Assign) and _is_replaced(ctx):
            continue
        if isinstance(where, ast.Call) and not _compiles(where):
            continue
        message = "`torch.compile` with its default backend fails on an XLA device, where the step is compiled as it is"
        yield ctx.finding(where, message, _on_cuda_only(ctx, where) if ctx.portable else _plain(ctx, where))
    for call, receiver in ctx.index.method_calls("compile"):
        statement = ctx.index.parent(call)
        if ctx.index.kind(receiver) is Kind.MODULE and isinstance(statement, ast.Expr) and _compiles(call):
            fix = _on_cuda_only(ctx, call) if ctx.portable else _deleted(ctx, statement)
            yield ctx.finding(call, f"`{ctx.text(call.func)}` with its default backend fails on an XLA device", fix)


def _is_target(node: ast.expr) -> bool:
    """``torch.compile = another``"""
    return isinstance(node, ast.Attribute | ast.Name) and not isinstance(node.ctx, ast.Load)


def _is_replaced(ctx: FileContext) -> bool:
    """Whether the file puts a function of its own in place of ``torch.compile``, and so keeps the one of torch."""
    return any(_is_target(node) for node, name in ctx.index.references("torch.compile") if name == "torch.compile")


def _compiles(call: ast.Call) -> bool:
    """Whether a call asks for a backend that XLA has not."""
    for item in call.keywords:
        if item.arg not in _PARAMETERS:
            return False
        if item.arg == "disable" and not (isinstance(item.value, ast.Constant) and item.value.value is False):
            return False
        if item.arg == "backend" and (not isinstance(item.value, ast.Constant) or item.value.value in _XLA_BACKENDS):
            return False
    return not any(isinstance(item, ast.Starred) for item in call.args)


def _plain(ctx: FileContext, where: ast.expr) -> FixBuilder | None:
    """What is compiled, left as it is."""
    index = ctx.index
    if index.tree.attributes_called("_orig_mod"):
        return None  # the module inside the compiled one is asked for by name
    fix = ctx.fix(
        "Leave it as it is", Applicability.SAFE, "It computes the same, and XLA compiles it.", Scope.STATEMENT
    )
    holder = index.parent(where)
    if isinstance(holder, FUNCTIONS) and where in holder.decorator_list:
        start = index.span(where).start
        line = index.source.line_start(start)
        following = [item for item in holder.decorator_list if item.lineno > where.lineno]
        below = following[0].lineno if following else holder.lineno
        end = index.source.line_starts[below - 1]
        if below > (where.end_lineno or where.lineno):
            fix.replace(type(index.span(where))(line, end), "")
            return fix
        return None
    if not isinstance(where, ast.Call):
        return None
    compiled = (
        where.args[0] if where.args else next((item.value for item in where.keywords if item.arg == "model"), None)
    )
    if compiled is None:
        return None
    if (
        isinstance(holder, ast.Assign)
        and len(holder.targets) == 1
        and ctx.text(holder.targets[0]) == ctx.text(compiled)
    ) or isinstance(holder, ast.Expr):
        _delete(ctx, fix, holder)
    else:
        fix.replace(where, fix.text(compiled))
    return fix


def _deleted(ctx: FileContext, statement: ast.stmt) -> FixBuilder:
    reason = "It computes the same, and XLA compiles it."
    fix = ctx.fix("Leave the module as it is", Applicability.SAFE, reason, Scope.STATEMENT)
    _delete(ctx, fix, statement)
    return fix


def _on_cuda_only(ctx: FileContext, where: ast.expr) -> FixBuilder:
    """``disable=``, with which ``torch.compile`` gives back what it gets."""
    fix = ctx.fix("Compile on CUDA only", Applicability.SAFE, "On CUDA nothing changes; XLA compiles by itself.")
    disabled = f"not {fix.emit.cuda_question(where)}"
    if isinstance(where, ast.Call):
        fix.set_argument(where, "disable", disabled)
    elif isinstance(ctx.index.parent(where), FUNCTIONS):
        fix.insert(ctx.index.span(where).end, f"(disable={disabled})")  # a decorator
    else:
        fix.give_up()
    return fix


def _delete(ctx: FileContext, fix: FixBuilder, statement: ast.stmt) -> None:
    """Remove a statement, with the ``if`` that holds nothing else, or nothing but messages about it."""
    for gone in with_emptied_blocks(ctx.index, [statement, *_told_beside(ctx, statement)]):
        fix.delete(gone)


def _told_beside(ctx: FileContext, statement: ast.stmt) -> list[ast.stmt]:
    """What stands beside a statement under an ``if``, where that would be untrue, or of no use, without it."""
    branch = ctx.index.parent(statement)
    if not isinstance(branch, ast.If) or branch.orelse or statement not in branch.body:
        return []
    beside = [item for item in branch.body if item is not statement]
    return beside if all(_tells_of_it(ctx, item) or _keeps_for_nobody(ctx, item) for item in beside) else []


def _tells_of_it(ctx: FileContext, statement: ast.stmt) -> bool:
    """``print("compiling the model... (takes a minute)")``"""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or last_name(call.func) not in PRINTING or call.keywords:
        return False
    texts = [item.value for item in call.args if isinstance(item, ast.Constant)]
    return len(texts) == len(call.args) == 1 and re.search("(?i)compil", str(texts[0])) is not None


def _keeps_for_nobody(ctx: FileContext, statement: ast.stmt) -> bool:
    """``unoptimized_model = model``, which nothing reads."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
        return False
    return isinstance(statement.value, ast.Name) and not ctx.index.names.loads_of(target)
