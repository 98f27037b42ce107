"""The functions of a file with which a loader makes a batch of samples."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.project.other_files import Definition, methods
from tpulint.semantic.project.outside import EVALUATION, STEP
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.batches.loaders import Loader

_DEPTH = 4
_LOADER = "torch.utils.data.DataLoader"
_COLLATE = "collate_fn"


def collate_functions(index: SemanticIndex, loader: Loader) -> Iterator[FunctionNode | ast.Lambda]:
    """What ``collate_fn`` may be, and the functions that it calls."""
    seen: set[ast.AST] = set()
    for node in (loader.arguments or {}).get(_COLLATE, ()):
        for function in _meant(index, node, 0):
            yield from with_called(index, function, seen)


def collators_meant(index: SemanticIndex, node: ast.expr) -> Iterator[Definition]:
    """The functions, of this file or another, that a value given as ``collate_fn`` runs."""
    for function in _meant(index, node, 0):
        if not isinstance(function, ast.Lambda):
            yield Definition(index, function)
    yield from _meant_elsewhere(index, node, 0)


def collating_loaders(index: SemanticIndex) -> Iterator[tuple[Loader, str]]:
    """Loaders whose batches loops of this file, of others or of Lightning take, with what the turns are called."""
    for loader in index.loaders.of_device:
        if loader.feeds or loader.feeds_evaluation:
            yield loader, STEP if loader.feeds else EVALUATION


def collating_for_others(index: SemanticIndex) -> Iterator[tuple[FunctionNode | ast.Lambda, str]]:
    """Functions of the file with which loaders of other files make batches, with what the turns are called.

    Those that a class of loaders brings along are among them, and those that functions which make loaders are given.
    """
    for call in index.outside:
        for function in index.definitions.named(call.function) if call.collates else ():
            yield function, call.collates
    for value, turn in index.loaders.handed_collating:
        yield from ((function, turn) for function in _meant(index, value, 0))
    for owner in index.tree.classes if _COLLATE in index.source.text else ():
        if any(index.qualified_name(base) == _LOADER for base in owner.bases):
            for value in _brought_along(index, owner):
                yield from ((function, STEP) for function in _meant(index, value, 0))


def collating_elsewhere(index: SemanticIndex) -> Iterator[tuple[Definition, str]]:
    """The functions of other files with which loaders make batches, with what the turns are called that take these."""
    values = [
        (value, turn)
        for loader, turn in collating_loaders(index)
        for value in (loader.arguments or {}).get(_COLLATE, ())
    ]
    for value, turn in (*values, *index.loaders.handed_collating):
        yield from ((made, turn) for made in _meant_elsewhere(index, value, 0))


def _meant_elsewhere(index: SemanticIndex, node: ast.expr, depth: int) -> Iterator[Definition]:
    if isinstance(node, ast.IfExp):
        yield from _meant_elsewhere(index, node.body, depth)
        yield from _meant_elsewhere(index, node.orelse, depth)
    elif isinstance(node, ast.Call):
        if index.qualified_name(node.func) == "functools.partial" and node.args and depth < _DEPTH:
            yield from _meant_elsewhere(index, node.args[0], depth + 1)
            return
        made = index.imported.called(node)
        owners = () if made is None or not made.is_class else (made,)
        yield from methods(owners, "__call__") if owners else () if made is None else (made,)
    elif isinstance(node, ast.Attribute):
        made, owner = index.imported.definition(node), index.imported.definition(node.value)
        if made is not None:
            yield made
        elif owner is not None and owner.is_class:
            yield from methods((owner,), node.attr)
        else:
            yield from methods(index.imported.classes_of(node.value), node.attr)
    elif isinstance(node, ast.Name):
        made = index.imported.definition(node)
        if made is not None:
            yield made
            return
        for binding in index.flow.reaching(node) if depth < _DEPTH else ():
            if binding.kind == "assign" and not binding.path and binding.value is not None:
                yield from _meant_elsewhere(index, binding.value, depth + 1)


def _brought_along(index: SemanticIndex, owner: ast.ClassDef) -> Iterator[ast.expr]:
    """What the loaders of a class collate with: ``self.collate_fn = fill``, ``super().__init__(collate_fn=fill)``."""
    for node in index.tree.inside(owner):
        if isinstance(node, ast.keyword) and node.arg == _COLLATE:
            yield node.value
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Attribute) and target.attr == _COLLATE:
            yield node.value


def collating_functions(index: SemanticIndex) -> Iterator[tuple[FunctionNode | ast.Lambda, str]]:
    """All functions of the file with which loaders of any make batches, with what the turns are called."""
    yield from collating_for_others(index)
    for loader, turn in collating_loaders(index):
        yield from ((function, turn) for function in collate_functions(index, loader))


def handed_on(index: SemanticIndex) -> Iterator[tuple[ast.Call, str]]:
    """Calls in functions of the file that make batches, with what the turns are called that take these."""
    seen: set[ast.AST] = set()
    for function, turn in collating_functions(index):
        for part in with_called(index, function, seen):
            yield from ((call, turn) for call in index.tree.nodes_in(part, ast.Call) if isinstance(call, ast.Call))


def _meant(index: SemanticIndex, node: ast.expr, depth: int) -> Iterator[FunctionNode | ast.Lambda]:
    if depth > _DEPTH:
        return
    if isinstance(node, ast.Lambda):
        yield node
    elif isinstance(node, ast.IfExp):
        yield from _meant(index, node.body, depth + 1)
        yield from _meant(index, node.orelse, depth + 1)
    elif isinstance(node, ast.Name):
        for binding in index.flow.reaching(node):
            if isinstance(binding.node, FUNCTIONS):
                yield binding.node
            elif binding.kind == "assign" and not binding.path and binding.value is not None:
                yield from _meant(index, binding.value, depth + 1)
    elif isinstance(node, ast.Attribute):
        yield from _method(index, node)
    elif isinstance(node, ast.Call):
        if index.qualified_name(node.func) == "functools.partial" and node.args:
            yield from _meant(index, node.args[0], depth + 1)
            return
        owner = index.definitions.class_called(node)
        method = None if owner is None else index.definitions.method(owner, "__call__")
        if method is not None:
            yield method
        function = index.definitions.function_called(node)
        for value in [] if function is None else index.definitions.returned_by(function):
            yield from _meant(index, value, depth + 1)


def _method(index: SemanticIndex, node: ast.Attribute) -> Iterator[FunctionNode]:
    """``self.collate``, ``Data.collate``, ``data.collate``; where nothing tells whose, the only one of that name."""
    classes = [owner for owner in index.tree.classes if index.definitions.method(owner, node.attr) is not None]
    if len(classes) == 1:
        method = index.definitions.method(classes[0], node.attr)
        if method is not None:
            yield method


def with_called(
    index: SemanticIndex, function: FunctionNode | ast.Lambda, seen: set[ast.AST], depth: int = 0
) -> Iterator[FunctionNode | ast.Lambda]:
    """A function and those of the file that it calls, each once."""
    if function in seen or depth > _DEPTH:
        return
    seen.add(function)
    yield function
    for node in index.tree.inside(function):
        called = index.definitions.function_called(node) if isinstance(node, ast.Call) else None
        if called is not None:
            yield from with_called(index, called, seen, depth + 1)
