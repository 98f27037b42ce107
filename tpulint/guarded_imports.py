"""Imports of torch_xla that a file makes where it is installed only: what takes their place is imported beside them."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.module_body import imports_for_certain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.context import FileContext, FixBuilder


def use_beside(ctx: FileContext, fix: FixBuilder, old: ast.expr, module: str, alias: str | None) -> str | None:
    """Text for a module of torch_xla at an old name; None unless the old one is imported under a condition.

    ``try: import torch_xla.core.xla_model as xm`` and ``if is_torch_xla_available():`` serve machines without it, on
    which an import at the top of the file would fail.
    """
    guard = _import_of(ctx, old)
    if guard is None or module.split(".", 1)[0] != "torch_xla":
        return None
    names = ctx.index.names
    local = alias or module
    root = local.split(".", 1)[0]
    found = names.find(root, names.scope_of(old))
    if found is None:
        start, end = ctx.index.tree.start(guard), ctx.index.tree.end(guard)
        source = ctx.source
        if source.text[end : source.line_end(end)].strip():
            return None  # a comment or another statement stands behind it
        indent = source.text[source.line_start(start) : start]
        line = f"import {module}" + (f" as {alias}" if alias else "")
        fix.insert(source.line_end(end), f"\n{indent}{line}")
        return local
    is_meant = all(binding.kind == "import" and names.qualified_binding(binding) == module for binding in found[1])
    return local if is_meant and "." not in local else None


def _import_of(ctx: FileContext, old: ast.expr) -> ast.AST | None:
    """The one import that binds what a dotted name begins with, if it does not stand at the top of the module."""
    root = old
    while isinstance(root, ast.Attribute):
        root = root.value
    bindings = ctx.index.names.bindings(root) if isinstance(root, ast.Name) else []
    imports = [binding.statement for binding in bindings if binding.kind == "import"]
    if len(imports) != 1:
        return None
    holder = ctx.index.tree.parents[imports[0]]
    if isinstance(holder, ast.Module) or imports_for_certain(holder):
        return None
    return imports[0]
