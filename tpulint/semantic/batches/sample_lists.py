"""Parts of a batch that a collate function leaves as they are: a list with an item for each sample."""

from __future__ import annotations

import ast

from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.syntax.bindings import Binding, part_of
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_SEQUENCES = frozenset({"builtins.tuple", "builtins.list"})


def columns_of_samples(index: SemanticIndex, function: ast.AST) -> ast.expr | None:
    """What a function returns that turns samples into columns and nothing else: ``tuple(zip(*batch))``."""
    returned = _returned(index, function)
    columns = returned
    if isinstance(columns, ast.Call) and len(columns.args) == 1 and index.qualified_name(columns.func) in _SEQUENCES:
        columns = columns.args[0]
    return returned if columns is not None and _is_zip(index, columns, _batch(function)) else None


def list_of_samples(collate: Definition, at: int) -> ast.expr | None:
    """The part at a place of what a collate function returns, if it has an item for each sample that nothing joins."""
    index, function = collate.file, collate.node
    whole = columns_of_samples(index, function)
    if whole is not None:
        return whole
    returned = _returned(index, function)
    if not isinstance(returned, ast.Tuple | ast.List) or not 0 <= at < len(returned.elts):
        return None
    part, batch = returned.elts[at], _batch(function)
    if isinstance(part, ast.ListComp):
        return part if _is_of_each(part, batch) else None
    bindings = index.names.bindings(part) if isinstance(part, ast.Name) else []
    return part if bindings and all(_is_list(index, binding, batch) for binding in bindings) else None


def _returned(index: SemanticIndex, function: ast.AST) -> ast.expr | None:
    if isinstance(function, ast.Lambda):
        return function.body
    found = index.definitions.returned_by(function) if isinstance(function, FUNCTIONS) else []
    return found[0] if len(found) == 1 else None


def _batch(function: ast.AST) -> str:
    """The parameter with the samples: the last, behind ``self``."""
    names = [one.arg for one in function.args.args] if isinstance(function, (*FUNCTIONS, ast.Lambda)) else []
    return names[-1] if names else ""


def _is_zip(index: SemanticIndex, node: ast.expr, batch: str) -> bool:
    if not isinstance(node, ast.Call) or index.qualified_name(node.func) != "builtins.zip" or len(node.args) != 1:
        return False
    samples = node.args[0]
    return isinstance(samples, ast.Starred) and isinstance(samples.value, ast.Name) and samples.value.id == batch


def _is_of_each(node: ast.ListComp, batch: str) -> bool:
    source = node.generators[0].iter
    return len(node.generators) == 1 and isinstance(source, ast.Name) and source.id == batch


def _is_list(index: SemanticIndex, binding: Binding, batch: str) -> bool:
    """``images, boxes = zip(*batch)``, ``boxes = []``, ``boxes = [sample[1] for sample in batch]``."""
    if binding.kind != "assign" or binding.value is None:
        return False
    value = part_of(binding.value, binding.path)
    if value is None:
        return _is_zip(index, binding.value, batch)
    if isinstance(value, ast.ListComp):
        return _is_of_each(value, batch)
    is_made = isinstance(value, ast.Call) and not value.args and index.qualified_name(value.func) == "builtins.list"
    return is_made or (isinstance(value, ast.List) and not value.elts)
