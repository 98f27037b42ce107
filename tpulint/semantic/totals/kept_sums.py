"""Sums that objects keep in attributes: which a method adds to, and which one sets back to a number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.project.other_files import Definition, method
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode

_DEPTH = 3
_READING = frozenset({"item", "tolist", "cpu", "numpy"})
_NUMBERS = frozenset({"float", "int"})


def sums_grown(owner: Definition, name: str, parameters: frozenset[str]) -> frozenset[str]:
    """Attributes to which a method of a class adds what it is given for these parameters, if it reads none of it."""
    found = method(owner, name)
    if found is None or not isinstance(found.node, FUNCTIONS):
        return frozenset()
    nodes = list(found.file.tree.inside(found.node, functions=False))
    if any(isinstance(node, ast.Call) and _reads(node) for node in nodes):
        return frozenset()
    sums = set()
    for node in nodes:
        kept = _attribute(node.target, found.node) if isinstance(node, ast.AugAssign) else None
        if kept is not None and isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            terms = (node.value, *found.file.tree.inside(node.value))
            if any(isinstance(term, ast.Name) and term.id in parameters for term in terms):
                sums.add(kept)
    return frozenset(sums)


def set_to_numbers(owner: Definition, name: str, depth: int = 0) -> frozenset[str]:
    """Attributes that a method of a class sets to a number, or a method that it calls itself."""
    found = method(owner, name) if depth < _DEPTH else None
    if found is None or not isinstance(found.node, FUNCTIONS):
        return frozenset()
    kept: set[str] = set()
    for node in found.file.tree.inside(found.node, functions=False):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and type(node.value.value) in (int, float)
        ):
            kept.update(filter(None, (_attribute(target, found.node) for target in node.targets)))
        elif isinstance(node, ast.Call) and (called := _attribute(node.func, found.node)) is not None:
            kept |= set_to_numbers(owner, called, depth + 1)
    return frozenset(kept)


def parameters_given(owner: Definition, name: str, call: ast.Call, given: list[ast.expr]) -> Iterator[str]:
    """The parameters of a method that a call gives these arguments for."""
    found = method(owner, name)
    if found is None or not isinstance(found.node, FUNCTIONS):
        return
    names = [item.arg for item in (*found.node.args.posonlyargs, *found.node.args.args)][1:]
    yield from (parameter for parameter, item in zip(names, call.args, strict=False) if item in given)
    yield from (item.arg for item in call.keywords if item.arg is not None and item.value in given)


def _attribute(node: ast.expr, function: FunctionNode) -> str | None:
    """The name of ``self.name``."""
    first = function.args.args[0].arg if function.args.args else None
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == first
    return node.attr if is_own and isinstance(node, ast.Attribute) else None


def _reads(call: ast.Call) -> bool:
    """Whether a call makes a number of a tensor, or copies it to the host."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in _READING
    return isinstance(call.func, ast.Name) and call.func.id in _NUMBERS
