"""States that a class of the project keeps as they come, as moving averages do: nothing copies them to the device."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.semantic import FUNCTIONS, SemanticIndex
from tpulint.semantic.project.other_files import Definition, definition_called
from tpulint.semantic.syntax.nodes import is_of_self

_COPIES = re.compile(r"\.clone\(|deepcopy\(|\bparameters\(\)|\bnamed_parameters\(\)|\.state_dict\(\)")
"""What a class has whose objects keep copies of weights."""
_NUMBERS = re.compile(r"(?i)(?:.*_)?(?:decay|steps?|epochs?|updates?|count|rate|lr|momentum|beta|alpha)")
"""Keys of what is a number, and may lie anywhere."""
_DEPTH = 3


def averages_given(index: SemanticIndex, loaded: ast.expr, depth: int = 0) -> Iterator[ast.expr]:
    """Parts of what is loaded that a ``load_state_dict`` keeps: ``ema.load_state_dict(state["ema"])``."""
    parent = index.parent(loaded)
    while isinstance(parent, ast.Subscript) and parent.value is loaded:
        loaded, parent = parent, index.parent(parent)
    if isinstance(parent, ast.Assign) and parent.value is loaded and len(parent.targets) == 1 and depth < _DEPTH:
        target = parent.targets[0]
        for use in index.flow.loads_of(target, loaded) if isinstance(target, ast.Name) else ():
            yield from averages_given(index, use, depth + 1)
    elif isinstance(parent, ast.Call) and parent.args == [loaded] and isinstance(parent.func, ast.Attribute):
        called = definition_called(index, parent) if parent.func.attr == "load_state_dict" else None
        if called is not None and _keeps(called):
            yield loaded


def _keeps(called: Definition) -> bool:
    """Whether a method of a class that copies weights puts parts of its state into attributes: ``self.shadow = ...``"""
    file, function = called
    owner = file.tree.class_of(function) if isinstance(function, FUNCTIONS) else None
    if owner is None or not isinstance(function, FUNCTIONS) or len(function.args.args) < 2:
        return False
    text = file.tree.text(owner)
    if file.definitions.is_module_class(owner) or not _COPIES.search(text) or ".cpu()" in text:
        return False
    state = function.args.args[1].arg
    statements = file.tree.nodes_in(function, ast.Assign)
    return any(
        isinstance(one, ast.Assign) and any(map(is_of_self, one.targets)) and _is_part(one.value, state)
        for one in statements
    )


def _is_part(value: ast.expr, state: str) -> bool:
    """``state["shadow"]``, no number: ``state["decay"]``"""
    key = value.slice if isinstance(value, ast.Subscript) else None
    if not isinstance(key, ast.Constant) or not isinstance(value, ast.Subscript):
        return False
    is_its = isinstance(value.value, ast.Name) and value.value.id == state
    return is_its and not _NUMBERS.fullmatch(str(key.value))
