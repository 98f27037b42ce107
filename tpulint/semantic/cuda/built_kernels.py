"""Kernels for CUDA that a project builds itself: what builds them, and the classes that launch them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_MODULE = "cpp_extension"
_BUILDING = tuple(f"torch.utils.{_MODULE}.{name}" for name in ("CUDAExtension", "load", "load_inline"))
_KERNELS = ".cu"
_FILLING = frozenset({"append", "extend", "insert"})
_DEPTH = 4
"""Variables that sources are followed through."""


def calls_building(index: SemanticIndex) -> Iterator[ast.Call]:
    """Calls that build kernels for CUDA wherever the program runs."""
    for call in index.calls_to(*_BUILDING) if _MODULE in index.source.text else ():
        if not _is_optional(index, call) and _has_kernels(index, call):
            yield call


def is_for_kernels(index: SemanticIndex, owner: ast.ClassDef) -> bool:
    """Whether a class is a ``torch.autograd.Function`` that computes by an extension with such kernels.

    Where it asks for the place of a tensor it chooses one of them, and they take no tensor of another device.
    """
    if _MODULE not in index.source.text or not index.definitions.has_own_gradient(owner):
        return False
    built = set(calls_building(index))
    names = index.tree.nodes_in(owner, ast.Name) if built else []
    return any(binding.value in built for name in names for binding in index.names.bindings(name))


def _has_kernels(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether an extension is for CUDA: by its class, by ``.cu`` files among its sources, or written in the call."""
    name = (index.qualified_name(call.func) or "").rpartition(".")[2]
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if name == "load_inline":
        return "cuda_sources" in given
    if name == "CUDAExtension" or _names_kernels(index, call):
        return True
    sources = given["sources"] if "sources" in given else call.args[1] if len(call.args) > 1 else None
    wanted = given.get("with_cuda")
    is_wanted = isinstance(wanted, ast.Constant) and wanted.value is True
    return is_wanted or (sources is not None and _hold_kernels(index, sources, 0))


def _hold_kernels(index: SemanticIndex, sources: ast.expr, depth: int) -> bool:
    """Whether there are ``.cu`` files among sources, or in variables that these are made of."""
    if _names_kernels(index, sources):
        return True
    names = [node for node in (sources, *index.tree.inside(sources)) if isinstance(node, ast.Name)]
    return depth < _DEPTH and any(
        _hold_kernels(index, value, depth + 1)
        for name in names
        for value in _values(index, name)
        if not _is_optional(index, value)
    )


def _names_kernels(index: SemanticIndex, node: ast.expr) -> bool:
    texts = (item.value for item in (node, *index.tree.inside(node)) if isinstance(item, ast.Constant))
    return any(isinstance(text, str) and text.endswith(_KERNELS) for text in texts)


def _values(index: SemanticIndex, name: ast.Name) -> Iterator[ast.expr]:
    """What a variable is given, and what is put into the list that it is."""
    yield from (binding.value for binding in index.names.bindings(name) if binding.value is not None)
    for load in index.names.loads_of(name):
        method = index.parent(load)
        call = index.parent(method) if isinstance(method, ast.Attribute) and method.attr in _FILLING else None
        if isinstance(call, ast.Call):
            yield from call.args


def _is_optional(index: SemanticIndex, node: ast.AST) -> bool:
    """Whether a condition or a handler may lead past it, as where the project has another way without CUDA."""
    return any(isinstance(above, ast.If | ast.IfExp | ast.Try) for above in index.tree.ancestors(node))
