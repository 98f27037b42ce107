"""Parts of a batch that hold others, by what deals the batch out: a data set, a collate function, or a loader."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tpulint.semantic import SemanticIndex
from tpulint.semantic.batches.collating import collators_meant
from tpulint.semantic.batches.loaders import LOADER
from tpulint.semantic.project.other_files import Definition, definition_called, method, returned
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.variables import last_name

_DEPTH = 6
_AROUND = ("enumerate", "tqdm", "iter")
"""What stands around a loader and deals out the same."""
_DICTS = frozenset({"builtins.dict", "collections.OrderedDict", "collections.defaultdict"})
_LISTS = frozenset({"builtins.list", "builtins.tuple"})


def is_dict_dealt(index: SemanticIndex, part: ast.Name) -> bool:
    """Whether a loop deals out a dictionary in a variable: ``target`` of ``for image, target in loader``."""
    return _is_dealt(index, part, _is_dict)


def is_nest_dealt(index: SemanticIndex, part: ast.Name) -> bool:
    """Whether a loop deals out a list, or a dictionary with others in it: ``{key: [x, sizes] for key in keys}``."""
    return _is_dealt(index, part, _is_nest)


def _is_dealt(index: SemanticIndex, part: ast.Name, is_such: Callable[[SemanticIndex, ast.expr], bool]) -> bool:
    bindings = index.flow.reaching(part)
    if not bindings or not all(one.kind == "loop" and isinstance(one.statement, ast.For) for one in bindings):
        return False
    for binding in bindings:
        source, path = binding.value, binding.path
        while isinstance(source, ast.Call) and source.args and last_name(source.func) in _AROUND:
            path = path[1:] if last_name(source.func) == "enumerate" else path
            source = source.args[0]
        if source is None or not any(_is_at(file, one, path, is_such) for file, one in _dealt(index, source, 0)):
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
            if "collate_fn" in given:
                for maker in collators_meant(index, given["collate_fn"]):
                    yield from ((maker.file, value) for value in returned(maker))
            elif call.args or "dataset" in given:
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


def _is_at(
    file: SemanticIndex,
    value: ast.expr,
    path: tuple[int, ...],
    is_such: Callable[[SemanticIndex, ast.expr], bool],
    depth: int = 0,
) -> bool:
    """Whether a part of a value is such a one wherever it gets its own."""
    for at in path:
        if not isinstance(value, ast.Tuple | ast.List) or not 0 <= at < len(value.elts):
            return False
        value = value.elts[at]
    if not isinstance(value, ast.Name):
        return is_such(file, value)
    bindings = file.flow.reaching(value) if depth < _DEPTH else ()
    return bool(bindings) and all(
        one.kind == "assign" and one.value is not None and _is_at(file, one.value, one.path, is_such, depth + 1)
        for one in bindings
    )


def _is_dict(file: SemanticIndex, value: ast.expr) -> bool:
    is_made = isinstance(value, ast.Call) and file.qualified_name(value.func) in _DICTS
    return is_made or isinstance(value, ast.Dict | ast.DictComp)


def _is_list(file: SemanticIndex, value: ast.expr) -> bool:
    is_made = isinstance(value, ast.Call) and file.qualified_name(value.func) in _LISTS
    return is_made or isinstance(value, ast.List | ast.ListComp | ast.Tuple)


def _is_nest(file: SemanticIndex, value: ast.expr) -> bool:
    """Whether a list is made, or a dictionary that such are put into, at once or later on: ``parts["x"] = [a, b]``."""
    if not _is_dict(file, value):
        return _is_list(file, value)
    inside = list[ast.expr | None]()
    if isinstance(value, ast.Dict):
        inside += value.values
    elif isinstance(value, ast.DictComp):
        inside.append(value.value)
    elif isinstance(value, ast.Call):
        inside += (keyword.value for keyword in value.keywords)
        inside += (maker for maker in value.args if file.qualified_name(maker) in _LISTS | _DICTS)
    made = file.parent(value)
    target = made.targets[0] if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
    for load in file.names.loads_of(target) if isinstance(target, ast.Name) else ():
        inside += _put_into(file, load)
    return any(
        one is not None and (_is_dict(file, one) or _is_list(file, one) or file.qualified_name(one) in _LISTS | _DICTS)
        for one in inside
    )


def _put_into(file: SemanticIndex, holder: ast.Name) -> Iterator[ast.expr]:
    part = file.parent(holder)
    around = None if part is None else file.parent(part)
    if isinstance(part, ast.Subscript) and isinstance(around, ast.Assign) and part in around.targets:
        yield around.value
