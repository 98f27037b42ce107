"""Parts of a batch that are dictionaries, by what deals the batch out: a data set, or a loader of the project."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic import SemanticIndex
from tpulint.semantic.loaders import LOADER
from tpulint.semantic.other_files import Definition, definition_called, method, returned
from tpulint.semantic.tree import FUNCTIONS
from tpulint.semantic.variables import last_name

_DEPTH = 6
_AROUND = ("enumerate", "tqdm", "iter")
"""What stands around a loader and deals out the same."""
_MAKING = ("builtins.dict", "collections.OrderedDict", "collections.defaultdict")


def is_dict_dealt(index: SemanticIndex, part: ast.Name) -> bool:
    """Whether a loop deals out a dictionary in a variable: ``target`` of ``for image, target in loader``."""
    bindings = index.flow.reaching(part)
    if not bindings or not all(one.kind == "loop" and isinstance(one.statement, ast.For) for one in bindings):
        return False
    for binding in bindings:
        source, path = binding.value, binding.path
        while isinstance(source, ast.Call) and source.args and last_name(source.func) in _AROUND:
            path = path[1:] if last_name(source.func) == "enumerate" else path
            source = source.args[0]
        if source is None or not any(_is_dict_at(file, one, path) for file, one in _dealt(index, source, 0)):
            return False
    return True


def _dealt(index: SemanticIndex, source: ast.expr, depth: int) -> Iterator[tuple[SemanticIndex, ast.expr]]:
    """What one batch or sample of a loader is made of, each with its file, as far as the project says it."""
    for creation in index.moves.creations.of(source) if depth < _DEPTH else ():
        call = creation.node
        if not isinstance(call, ast.Call) or creation.path:
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        if index.qualified_name(call.func) == LOADER:
            if "collate_fn" not in given and (call.args or "dataset" in given):
                yield from _dealt(index, call.args[0] if call.args else given["dataset"], depth + 1)
            continue
        here = index.definitions.class_called(call)
        made = definition_called(index, call) if here is None else Definition(index, here)
        if made is None:
            continue
        if not made.is_class:
            for value in returned(made):
                yield from _dealt(made.file, value, depth + 1)
            continue
        for name in ("__iter__", "__getitem__"):
            found = method(made, name)
            if found is not None and isinstance(found.node, FUNCTIONS):
                yield from ((found.file, value) for value in _given_out(found))


def _given_out(function: Definition) -> Iterator[ast.expr]:
    """What a function yields, or returns where it yields nothing."""
    yields = function.file.tree.nodes_in(function.node, ast.Yield, functions=False)
    yield from (one.value for one in yields if one.value is not None)
    if not yields:
        yield from returned(function)


def _is_dict_at(file: SemanticIndex, value: ast.expr, path: tuple[int, ...], depth: int = 0) -> bool:
    """Whether a part of a value is a dictionary wherever it gets its own."""
    for at in path:
        if not isinstance(value, ast.Tuple | ast.List) or not 0 <= at < len(value.elts):
            return False
        value = value.elts[at]
    if isinstance(value, ast.Dict | ast.DictComp):
        return True
    if isinstance(value, ast.Call):
        return file.qualified_name(value.func) in _MAKING
    bindings = file.flow.reaching(value) if isinstance(value, ast.Name) and depth < _DEPTH else ()
    return bool(bindings) and all(
        one.kind == "assign" and one.value is not None and _is_dict_at(file, one.value, one.path, depth + 1)
        for one in bindings
    )
