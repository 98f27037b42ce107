"""Storages, which lie on no XLA device: made by the file, or handed to a function of it by `torch.load`."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Span
from tpulint.semantic import SemanticIndex
from tpulint.semantic.syntax.variables import itself, last_name

_WORD = ("Storage",)
_MAKERS = tuple(
    f"torch.{name}Storage"
    for name in ("", "Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte")
)
_TO_BE_MOVED = "Tensors of the file that are used as they are must be moved to the device."


def is_loaded_storage(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether a variable is what a ``map_location`` gets: ``def place(storage, location): return storage.cuda(0)``.

    A storage has no ``to``, and what is returned as it came is loaded to the host.
    """
    bindings = index.flow.reaching(node) if isinstance(node, ast.Name) and _is_handed_back(index, node) else ()
    return bool(bindings) and all(
        binding.kind == "parameter" and isinstance(binding.node, ast.arg) and _is_first_of_two(index, binding.node)
        for binding in bindings
    )


def makes_storages(index: SemanticIndex) -> bool:
    """Whether the file makes any storage: ``torch.Storage(size)``."""
    return index.source.has_any(_WORD) and next(index.calls_to(*_MAKERS), None) is not None


def is_new_storage(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether an expression, or all that a variable is set to, makes a storage."""
    if not makes_storages(index):
        return False
    node = itself(node)
    bindings = index.flow.reaching(node) if isinstance(node, ast.Name) else ()
    set_to = [one.value if one.kind == "assign" and not one.path else None for one in bindings]
    made = [None if value is None else itself(value) for value in set_to] or [node]
    return all(isinstance(one, ast.Call) and index.qualified_name(one.func) in _MAKERS for one in made)


def left_as_it_came(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """Return a storage without ``.cuda(0)``; portable code still loads it to a GPU where there is one."""
    if ctx.portable or not isinstance(call.func, ast.Attribute):
        return None
    fix = ctx.fix("Load to the host", Applicability.UNSAFE, _TO_BE_MOVED)
    fix.replace(Span(ctx.index.span(call.func.value).end, ctx.index.span(call).end), "")
    return fix


def _is_handed_back(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether what is moved is all that a function or lambda returns."""
    call = index.parent(index.parent(node) or node)
    holder = index.parent(call) if isinstance(call, ast.Call) else None
    return isinstance(holder, ast.Return | ast.Lambda)


def _is_first_of_two(index: SemanticIndex, parameter: ast.arg) -> bool:
    """Whether a parameter is called a storage, or annotated as one, and a place follows it: ``storage, location``."""
    arguments = index.parent(parameter)
    if not isinstance(arguments, ast.arguments) or len(arguments.args) != 2 or arguments.args[0] is not parameter:
        return False
    annotated, place = parameter.annotation, arguments.args[1].arg
    if "loc" not in place and place.strip("_"):
        return False
    return parameter.arg == "storage" or (annotated is not None and last_name(annotated).endswith("Storage"))
