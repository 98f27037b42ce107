"""Functions that measure a batch for who calls them: ``return words, np.max(batch.lens)``."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.project.other_files import definition_called, returned
from tpulint.semantic.syntax.bindings import element_at
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

LARGEST = frozenset({"builtins.max", "numpy.max", "numpy.amax"})
"""What gives the longest of the lengths of a batch as a number."""
_DEPTH = 3


def batch_measured(index: SemanticIndex, call: ast.Call, path: tuple[int, ...]) -> ast.expr | None:
    """What a call gives to a function that returns the longest of its lengths, be it as one part of several."""
    made = definition_called(index, call)
    if made is None or not isinstance(made.node, FUNCTIONS):
        return None
    given = dict(arguments_given(call, made.node, made.file.tree.class_of(made.node) is not None))
    values = [element_at(value, path) for value in returned(made)]
    names = {_measured(made.file, value, 0) for value in values}
    name = names.pop() if len(names) == 1 else None
    return None if name is None else given.get(name)


def _measured(file: SemanticIndex, node: ast.expr | None, depth: int) -> str | None:
    """The parameter whose largest number an expression is: ``longest`` of ``longest = np.max(batch.lens)``."""
    if isinstance(node, ast.Name):
        bindings = file.flow.reaching(node)
        is_one = len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path
        return _measured(file, bindings[0].value, depth + 1) if is_one and depth < _DEPTH else None
    if not isinstance(node, ast.Call) or file.qualified_name(node.func) not in LARGEST:
        return None
    return _parameter(file, node.args[0], 0) if len(node.args) == 1 and not node.keywords else None


def _parameter(file: SemanticIndex, lengths: ast.expr, depth: int) -> str | None:
    """The parameter that lengths are an attribute of: ``lens = batch.lens``."""
    while isinstance(lengths, ast.Attribute | ast.Subscript):
        lengths = lengths.value
    bindings = file.flow.reaching(lengths) if isinstance(lengths, ast.Name) and depth < _DEPTH else ()
    made = bindings[0] if len(bindings) == 1 and not bindings[0].path else None
    if made is None or made.kind == "parameter":
        return None if made is None else made.name
    return _parameter(file, made.value, depth + 1) if made.kind == "assign" and made.value is not None else None
