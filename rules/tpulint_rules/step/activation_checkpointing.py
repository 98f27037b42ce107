"""``torch.utils.checkpoint`` asks torch for a module of the device type, and there is none for XLA."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope, Span
from tpulint.semantic.values.value import is_true

_OLD = "torch.utils.checkpoint"
_NUMBERED = r"(?i)ids\Z|mask|token|label|index|indices|target"
"""Names of tensors of whole numbers, of which none may ask for a gradient."""


def check(ctx: FileContext) -> Iterator[Finding]:
    used = list(ctx.index.references(f"{_OLD}.checkpoint", f"{_OLD}.checkpoint_sequential"))
    if not used:
        return
    fix = ctx.fix("", Applicability.SAFE, "It stores and recomputes the same.", Scope.MODULE)
    new = fix.emit.checkpointing()
    fix.title = f"Use `{new}`"
    plain = [node for node, name in used if name == f"{_OLD}.checkpoint"]
    # The runtime is reached by one name in the whole file.
    imports = [] if ctx.portable else _imports(ctx, plain)
    for span in imports:
        fix.replace(span, new)
    for node in plain:
        if not imports:
            fix.replace(node, fix.emit.checkpoint(node))
        _adapt_arguments(ctx, fix, node)
    group = fix.build()
    for node, name in used:
        message = f"`{name}` raises on an XLA device, with and without `use_reentrant`"
        if name.endswith("_sequential"):
            yield ctx.finding(node, message, help=f"Call `{new}.checkpoint` for each segment")
        else:
            yield ctx.finding(node, f"{message}; use the function of `{new}`", group)


def _adapt_arguments(ctx: FileContext, fix: FixBuilder, node: ast.expr) -> None:
    call = ctx.index.parent(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        return
    for item in call.keywords:
        if item.arg == "use_reentrant" and not is_true(item.value):
            fix.lower(Applicability.UNSAFE, "It is always reentrant: an input of the function must require a gradient.")
            if not ctx.portable:
                fix.delete_argument(call, item)
                _ask_for_gradient(ctx, fix, call)
        elif item.arg in ("determinism_check", "context_fn", "debug", "early_stop"):
            fix.give_up()


def _ask_for_gradient(ctx: FileContext, fix: FixBuilder, call: ast.Call) -> None:
    """What a forward pass is given may be the batch itself, of which nothing would ask for a gradient."""
    given = call.args[1] if len(call.args) > 1 else None
    bindings = ctx.index.flow.reaching(given) if isinstance(given, ast.Name) else ()
    if not isinstance(given, ast.Name) or not bindings or any(binding.kind != "parameter" for binding in bindings):
        return
    if re.search(_NUMBERED, given.id) or ctx.index.number_types.is_integer(given):
        fix.give_up()  # whole numbers have no gradient
        return
    fix.insert(ctx.index.span(given).end, ".requires_grad_()")


def _imports(ctx: FileContext, nodes: list[ast.expr]) -> list[Span]:
    """Where ``from torch.utils.checkpoint import checkpoint`` names the module, if nothing else brings it in."""
    spans: list[Span] = []
    for node in nodes:
        if not isinstance(node, ast.Name):
            return []
        for binding in ctx.index.names.bindings(node):
            statement = binding.statement
            if not isinstance(statement, ast.ImportFrom) or [alias.name for alias in statement.names] != ["checkpoint"]:
                return []
            start = ctx.index.span(statement).start
            at = ctx.source.text.find(_OLD, start)
            spans.append(Span(at, at + len(_OLD)))
    return list(dict.fromkeys(spans))
