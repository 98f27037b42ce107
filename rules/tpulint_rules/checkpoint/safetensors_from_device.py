"""safetensors reads the memory of tensors, and XLA tensors have none to read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding

_MODULE = "safetensors.torch"
_OF_TENSORS = (f"{_MODULE}.save_file", f"{_MODULE}.save")
_OF_MODULES = (f"{_MODULE}.save_model", f"{_MODULE}.load_model")


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to(*_OF_TENSORS):
        saved = _argument(call, "tensors")
        module = None if saved is None else _module_of(ctx, saved)
        if saved is None or module is None or not ctx.index.moves.is_on_device(module, call):
            continue
        fix = ctx.fix("Copy to the host first", Applicability.SAFE, "The file holds the same values.")
        fix.replace(saved, f"{{name: tensor.cpu() for name, tensor in {fix.text(saved)}.items()}}")
        yield ctx.finding(saved, "safetensors cannot read tensors on an XLA device: it raises", fix)
    for call in ctx.index.calls_to(*_OF_MODULES):
        module = _argument(call, "model")
        if module is not None and ctx.index.moves.is_on_device(module, call):
            name = (ctx.index.qualified_name(call.func) or "").rpartition(".")[2]
            message = f"`{name}` reads the memory of the model's tensors, and raises on an XLA device"
            yield ctx.finding(call, message)


def _argument(call: ast.Call, name: str) -> ast.expr | None:
    given = [*call.args[:1], *(item.value for item in call.keywords if item.arg == name)]
    return given[0] if given and not isinstance(given[0], ast.Starred) else None


def _module_of(ctx: FileContext, node: ast.expr) -> ast.expr | None:
    """The module whose state an expression is."""
    if isinstance(node, ast.Name):
        bindings = ctx.index.flow.reaching(node)
        if len(bindings) != 1 or bindings[0].kind != "assign" or bindings[0].path or bindings[0].value is None:
            return None
        node = bindings[0].value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "state_dict":
        return node.func.value
    return None
