"""States of a model that are filled with those of a file before they are loaded.

``own = net.state_dict()``, ``own.update({key: value for key, value in loaded.items() if key in own})``: what is named
otherwise in the file is left out there, so that its names have to be right before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.bindings import Binding

_DEPTH = 5
_VIEWS = frozenset({"items", "keys"})
_COPIES = frozenset({"dict", "list", "OrderedDict"})


def fillings(index: SemanticIndex, state: ast.expr) -> list[ast.expr]:
    """What the state of a model is filled with by name until it is loaded, if it is one.

    What a call gives whole, ``own.update(read(path))``, has its names still when the state is loaded.
    """
    bindings = index.flow.reaching(state) if isinstance(state, ast.Name) else ()
    if not isinstance(state, ast.Name) or not bindings or not all(map(_is_own_state, bindings)):
        return []
    return [item for item in _put_in(index, state) if not isinstance(_source(item), ast.Call)]


def where_read(index: SemanticIndex, filled: ast.expr, state: str, depth: int = 0) -> Binding | None:
    """The variable, or parameter, through which what a state is filled with came; None where that is not seen."""
    source = _source(filled)
    bindings = index.flow.reaching(source) if isinstance(source, ast.Name) else ()
    if not isinstance(source, ast.Name) or len(bindings) != 1 or depth > _DEPTH:
        return None
    binding = bindings[0]
    statement, value = binding.statement, binding.value
    if binding.kind == "parameter" and isinstance(statement, FUNCTIONS) and value is None:
        return binding
    if binding.kind != "assign" or binding.path or value is None or not isinstance(statement, ast.Assign):
        return None
    if _is_empty(value):  # `kept = {}`, filled in a loop
        parts = [item for item in _put_in(index, source) if item is not filled]
        found = [where_read(index, part, state, depth + 1) for part in parts]
        return found[0] if found and all(item is found[0] for item in found) else None
    if isinstance(value, ast.Subscript) or _is_call_without(value, state):
        return binding if len(statement.targets) == 1 else None
    if isinstance(value, ast.Call) and value.args and not _is_copy(value):
        value = value.args[0]  # `known = choose(loaded, own)`
    return where_read(index, value, state, depth + 1)


def _is_own_state(binding: Binding) -> bool:
    """``own = net.state_dict()``"""
    value = binding.value if binding.kind == "assign" and not binding.path else None
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "state_dict"


def _put_in(index: SemanticIndex, state: ast.Name) -> Iterator[ast.expr]:
    """What `update` gives a dictionary, and what a loop goes through that puts or copies into it by key."""
    for load in index.names.loads_of(state):
        part = index.parent(load)
        if isinstance(part, ast.Attribute) and part.attr == "update":
            call = index.parent(part)
            if isinstance(call, ast.Call) and call.func is part and len(call.args) == 1:
                yield call.args[0]
        elif isinstance(part, ast.Subscript) and part.value is load and _is_filled(index, part):
            loop = next((one for one in index.tree.ancestors(part) if isinstance(one, ast.For)), None)
            if loop is not None:
                yield loop.iter


def _is_filled(index: SemanticIndex, part: ast.Subscript) -> bool:
    """``own[name] = value``, ``own[name].copy_(value)``"""
    method = index.parent(part)
    return isinstance(part.ctx, ast.Store) or (isinstance(method, ast.Attribute) and method.attr == "copy_")


def _source(node: ast.expr) -> ast.expr:
    """``loaded`` of ``loaded.items()``, of a comprehension over it, and of ``dict(loaded)``."""
    while True:
        if isinstance(node, ast.DictComp | ast.ListComp | ast.GeneratorExp):
            node = node.generators[0].iter
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
            node = node.func.value
        elif isinstance(node, ast.Call) and _is_copy(node):
            node = node.args[0]
        else:
            return node


def _is_copy(call: ast.Call) -> bool:
    return len(call.args) == 1 and last_name(call.func) in _COPIES


def _is_call_without(value: ast.expr, state: str) -> bool:
    """``torch.load(path)``: what is not told of the names that the model knows gives those of the file."""
    if not isinstance(value, ast.Call) or _is_copy(value) or last_name(value.func) in _VIEWS:
        return False
    given = values_given(value)
    return not any(isinstance(item, ast.Name) and item.id == state for item in given)


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Dict):
        return not value.keys
    return isinstance(value, ast.Call) and not values_given(value) and last_name(value.func) in _COPIES
