"""Parts that a module is given, ``Whole(part)``, and that built an optimizer of their own as they were made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic import FUNCTIONS, SemanticIndex
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.project.other_files import Definition, method
from tpulint.semantic.syntax.torch_facts import MODULE_LISTS
from tpulint.semantic.values.collected_objects import COLLECTIONS
from tpulint.semantic.values.creations import Creation
from tpulint_rules.step._made_modules import builds_its_own, classes_made, is_told_otherwise, makings, own_name

_ADDS = frozenset({"add_module", "register_module"})


def parts_handed(
    index: SemanticIndex, making: ast.Call, owner: Definition
) -> Iterator[tuple[ast.expr, Creation, Definition]]:
    """What a call gives a module to keep as a part, which object that is, and of which class of another file."""
    start = method(owner, "__init__")
    if start is None or not isinstance(start.node, FUNCTIONS) or not isinstance(owner.node, ast.ClassDef):
        return
    if not owner.file.definitions.is_module_class(owner.node):
        return
    kept = _kept_parameters(start)
    for name, given in arguments_given(making, start.node, is_method=True) if kept else ():
        for creation in _whole_or_elements(index, given) if name in kept else ():
            for made in makings([creation]):
                for part in classes_made(index, made):
                    # Those of this file are told of where they build theirs.
                    if part.file is not index and builds_its_own(part) and not is_told_otherwise(index, made, part):
                        yield given, creation, part


def _whole_or_elements(index: SemanticIndex, given: ast.expr) -> Iterator[Creation]:
    """What an argument is, or what is in the list that it is: ``Whole([part, other])``."""
    collected = index.moves.collected
    for one in index.moves.creations.of(given):
        is_list = isinstance(one.node, COLLECTIONS) and not one.path
        yield from collected.among(collected.elements(one)) if is_list else (one,)


def _kept_parameters(start: Definition) -> set[str]:
    """``part`` of ``self.part = part``, ``self.parts = ModuleList([part])`` and ``self.add_module("part", part)``."""
    own, tree = own_name(start), start.file.tree
    kept = [
        statement.value
        for statement in tree.nodes_in(start.node, ast.Assign, functions=False)
        if any(isinstance(target, ast.Attribute) and _is(target.value, own) for target in statement.targets)
    ]
    for call in tree.nodes_in(start.node, ast.Call, functions=False):
        if isinstance(call.func, ast.Attribute) and call.func.attr in _ADDS and _is(call.func.value, own):
            kept += call.args[1:2]
    return {name for value in kept for name in _names_in(start.file, value)}


def _names_in(file: SemanticIndex, value: ast.expr) -> Iterator[str]:
    """The variables of which an attribute holds the objects, be it in a list of modules."""
    if isinstance(value, ast.Name):
        yield value.id
    elif isinstance(value, ast.Starred):
        yield from _names_in(file, value.value)
    elif isinstance(value, ast.Call) and file.qualified_name(value.func) in MODULE_LISTS:
        for item in value.args:
            for inner in item.elts if isinstance(item, ast.List | ast.Tuple) else (item,):
                yield from _names_in(file, inner)


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
