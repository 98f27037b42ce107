"""Loops whose target is another number in every turn: ``for i in range(n)``, ``for i, x in enumerate(batches)``."""

from __future__ import annotations

import ast

from tpulint.semantic.project.other_files import definition_called
from tpulint.semantic.syntax.bindings import Binding, part_of
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_NUMBERS = frozenset({"builtins.range", "tqdm.trange", "numpy.arange", "numpy.random.permutation"})
_SAME_ELEMENTS = frozenset({
    "builtins.reversed", "builtins.list", "builtins.tuple", "builtins.sorted", "builtins.iter", "tqdm.tqdm",
    "random.sample",
})  # fmt: skip
"""Calls that give the elements of their first argument, be it some of them, or in another order."""
_DEPTH = 9
_OF_GENERATOR = 3
"""What a generator counts for, of which each goes through the one below."""


def numbers_turns(index: SemanticIndex, binding: Binding, depth: int = 0) -> bool:
    """Whether the target of a loop, or a part of it, is a number that no other turn of the loop has."""
    return binding.value is not None and _numbers(index, binding.value, binding.path, depth)


def _numbers(index: SemanticIndex, node: ast.expr, path: tuple[int, ...], depth: int) -> bool:
    if depth > _DEPTH:
        return False
    if isinstance(node, ast.Name):  # `starts = range(0, n, size)`
        bindings = list(index.flow.reaching(node))
        made = bindings[0] if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path else None
        return made is not None and made.value is not None and _numbers(index, made.value, path, depth + 1)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):  # `starts[:-1]`
        return _numbers(index, node.value, path, depth + 1)
    if not isinstance(node, ast.Call):
        return False
    name = index.qualified_name(node.func)
    if name in _NUMBERS:
        return not path
    if name == "builtins.enumerate" and path[:1] == (0,):
        return True
    if name in _SAME_ELEMENTS or (name == "builtins.enumerate" and path):
        inner = path[1:] if name == "builtins.enumerate" else path
        return bool(node.args) and _numbers(index, node.args[0], inner, depth + 1)
    return bool(path) and _is_numbered_by(index, node, path, depth + _OF_GENERATOR)


def _is_numbered_by(index: SemanticIndex, call: ast.Call, path: tuple[int, ...], depth: int) -> bool:
    """Whether a generator numbers what it hands on: ``for k, batch in enumerate(batches): yield k, batch``."""
    found = definition_called(index, call)
    if found is None or not isinstance(found.node, FUNCTIONS):
        return False
    file, yields = found.file, found.file.tree.nodes_in(found.node, ast.Yield, functions=False)
    parts = [part_of(node.value, path) for node in yields if isinstance(node, ast.Yield) and node.value is not None]
    numbered = [
        binding.kind == "loop" and numbers_turns(file, binding, depth)
        for part in parts
        for binding in (file.flow.reaching(part) if isinstance(part, ast.Name) else ())
    ]
    return len(numbered) >= len(yields) > 0 and all(numbered)
