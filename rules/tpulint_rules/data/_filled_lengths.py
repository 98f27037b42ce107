"""Lengths of samples that are noted one by one: ``lengths[row] = len(sample)``, ``lengths.append(len(sample))``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tpulint.semantic import SemanticIndex

HOLDING = frozenset({
    "builtins.list", "builtins.tuple", "numpy.array", "torch.tensor", "torch.LongTensor", "torch.IntTensor",
})  # fmt: skip
"""What holds the lengths that it is given."""
_AS_THEY_ARE = frozenset({"to", "long", "int", "cuda", "cpu", "clone", "contiguous"})
"""Methods of a tensor that give the same numbers."""


def are_filled_lengths(index: SemanticIndex, node: ast.expr, is_length: Callable[[ast.expr], bool]) -> bool:
    """Whether an expression gives what a loop over the samples has filled with their lengths."""
    name = _itself(index, node)
    return isinstance(name, ast.Name) and any(_is_length(index, item, is_length) for item in _put_into(index, name))


def _itself(index: SemanticIndex, node: ast.expr) -> ast.expr:
    """``lengths`` of ``torch.tensor(lengths).to(device)``."""
    while isinstance(node, ast.Call):
        name = index.qualified_name(node.func)
        if name in HOLDING and node.args:
            node = node.args[0]
        elif name is None and isinstance(node.func, ast.Attribute) and node.func.attr in _AS_THEY_ARE:
            node = node.func.value
        else:
            break
    return node


def _put_into(index: SemanticIndex, name: ast.Name) -> Iterator[ast.expr]:
    """What the function puts into a variable as elements."""
    found = index.names.find_name(name)
    for use in () if found is None else index.names.loads(name.id, found[0]):
        part = index.parent(use)
        around = None if part is None else index.parent(part)
        if isinstance(part, ast.Subscript) and part.value is use and isinstance(around, ast.Assign):
            yield from (around.value,) if part in around.targets else ()
        elif isinstance(part, ast.Attribute) and part.attr == "append" and isinstance(around, ast.Call):
            yield from around.args


def _is_length(index: SemanticIndex, node: ast.expr, is_length: Callable[[ast.expr], bool]) -> bool:
    """Whether an element is a length, be it one that a variable has: ``size = sample.size(1)``."""
    bindings = index.flow.reaching(node) if isinstance(node, ast.Name) else ()
    values = [binding.value for binding in bindings if binding.kind == "assign" and not binding.path]
    return any(value is not None and is_length(value) for value in (node, *values))
