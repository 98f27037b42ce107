"""Logging that is set up behind the import of torch_xla, which has done so already."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding

_REASON = "The handler that torch_xla made is taken away, as if there had been none."
_LIKELY = "Whether torch_xla is imported by then is likely, not certain."
_HANDLED = "Handlers that the file adds to the root logger before would go as well."


def check(ctx: FileContext) -> Iterator[Finding]:
    """Calls that would be the first to set up logging, were it not for torch_xla."""
    index = ctx.index
    imports = [
        node
        for node in index.tree.module.body
        if isinstance(node, ast.Import | ast.ImportFrom) and "torch" in ctx.text(node)
    ]
    calls = [call for call in index.calls_to("logging.basicConfig") if call.args or call.keywords]
    if len(calls) != 1 or not index.kinds.mentions_device:
        return
    (call,) = calls
    is_first = bool(imports) and index.span(call).end <= index.span(imports[0]).start
    if is_first or any(keyword.arg in ("force", None) for keyword in call.keywords):
        return
    if _is_emptied(ctx, call):
        return
    is_ported = any("torch_xla" in ctx.text(node) or "tpulint_runtime" in ctx.text(node) for node in imports)
    is_safe = is_ported and ".addHandler(" not in ctx.source.text
    fix = ctx.fix(
        "Set it up in spite of that",
        Applicability.SAFE if is_safe else Applicability.UNSAFE,
        _REASON if is_safe else _HANDLED if is_ported else _LIKELY,
    )
    fix.set_argument(call, "force", "True")
    yield ctx.finding(
        call,
        "`logging.basicConfig` does nothing behind the import of torch_xla, which has set up logging: "
        "levels, formats and files are as if it had not been called",
        fix,
        certainty=Certainty.CERTAIN if is_ported else Certainty.LIKELY,
    )


def _is_emptied(ctx: FileContext, call: ast.Call) -> bool:
    """Whether the handlers of the root logger are taken away in front of a call: ``logging.root.handlers = []``."""
    index = ctx.index
    emptied = (
        *(node.value for node in index.tree.attributes_called("removeHandler")),
        *(node.value for node in index.tree.attributes_called("handlers") if _empties(index.parent(node), node)),
    )
    return any(_is_root(ctx, logger) and index.tree.start(logger) < index.tree.start(call) for logger in emptied)


def _empties(parent: ast.AST | None, handlers: ast.Attribute) -> bool:
    """``root.handlers = []`` and ``root.handlers.clear()``"""
    if isinstance(parent, ast.Attribute):
        return parent.attr == "clear"
    is_sliced = isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load)
    return is_sliced or not isinstance(handlers.ctx, ast.Load)


def _is_root(ctx: FileContext, logger: ast.expr) -> bool:
    """``logging.root`` and ``logging.getLogger()``, by a variable as well."""
    if ctx.index.qualified_name(logger) == "logging.root":
        return True
    bindings = ctx.index.names.bindings(logger) if isinstance(logger, ast.Name) else []
    made = bindings[0].value if len(bindings) == 1 else logger
    is_asked = isinstance(made, ast.Call) and ctx.index.qualified_name(made.func) == "logging.getLogger"
    return is_asked and isinstance(made, ast.Call) and not made.args
