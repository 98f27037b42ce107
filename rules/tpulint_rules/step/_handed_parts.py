"""Parts that a module is given, ``Whole(part)``, and that built an optimizer of their own as they were made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic import FUNCTIONS, SemanticIndex
from tpulint.semantic.other_files import Definition, method
from tpulint.semantic.passed_arguments import arguments_given
from tpulint_rules.step._made_modules import builds_its_own, classes_made, is_told_otherwise, makings, own_name


def parts_handed(index: SemanticIndex, making: ast.Call, owner: Definition) -> Iterator[tuple[ast.expr, Definition]]:
    """What a call gives a module to keep as a part, with the class of another file that it is of."""
    start = method(owner, "__init__")
    if start is None or not isinstance(start.node, FUNCTIONS) or not isinstance(owner.node, ast.ClassDef):
        return
    if not owner.file.definitions.is_module_class(owner.node):
        return
    kept = _kept_parameters(start)
    for name, given in arguments_given(making, start.node, is_method=True) if kept else ():
        for made in makings(index.moves.creations.of(given)) if name in kept else ():
            for part in classes_made(index, made):
                # Those of this file are told of where they build theirs.
                if part.file is not index and builds_its_own(part) and not is_told_otherwise(index, made, part):
                    yield given, part


def _kept_parameters(start: Definition) -> set[str]:
    """``part`` of ``self.part = part``."""
    own = own_name(start)
    return {
        statement.value.id
        for statement in start.file.tree.nodes_in(start.node, ast.Assign, functions=False)
        if isinstance(statement.value, ast.Name)
        and any(
            isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == own
            for target in statement.targets
        )
    }
