"""Variables that hold a module for the sake of its tensor classes: ``tt = torch.cuda if use_cuda else torch``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.records import NamedTuple
from tpulint.semantic.syntax.torch_facts import CUDA_TENSOR_TYPES
from tpulint.semantic.syntax.variables import Key
from tpulint.semantic.values.kept_attributes import is_read_elsewhere, loads_of_objects, owner_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_CUDA, _HOST = "torch.cuda", "torch"


class TensorModule(NamedTuple):
    """One variable that is given CUDA's module, and of which tensor classes are taken."""

    value: ast.expr
    """The module, or the choice between it and that of the host."""
    statement: ast.Assign
    variable: Key
    classes: list[ast.Attribute]
    """``tt.FloatTensor``"""
    others: list[ast.expr]
    """Reads of the variable for something else."""
    is_read_elsewhere: bool
    """Whether it is taken from objects that nobody sees, or in other files."""


def tensor_modules(index: SemanticIndex) -> Iterator[TensorModule]:
    """Those of a file."""
    variables = index.devices.flow.variables
    for node, name in index.references(_CUDA):
        value, statement = node, index.parent(node)
        if isinstance(statement, ast.IfExp):
            value, statement = statement, index.parent(statement)
        if name != _CUDA or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target = statement.targets[0]
        keys = variables.keys_of(target)
        if not keys or statement.value is not value:
            continue
        loads: list[ast.expr] = []
        values: list[ast.expr | None] = []
        elsewhere = False
        if isinstance(target, ast.Name):
            loads, values = variables.loads(keys[0]), [binding.value for binding in index.names.bindings(target)]
        elif isinstance(target, ast.Attribute) and (owner := owner_of(index, target)) is not None:
            loads += loads_of_objects(index, owner, target)
            values = [binding.value for binding in index.names.attribute_bindings(owner, target.attr)]
            elsewhere = is_read_elsewhere(index, owner, target)
        users = [user for load in loads if isinstance(user := index.parent(load), ast.Attribute)]
        classes = [user for user in users if user.attr in CUDA_TENSOR_TYPES]
        others = [load for load in loads if index.parent(load) not in classes]
        if others and index.qualified_name(target) is not None:
            continue  # `tt = torch.cuda`, always: each part of it is known by its name
        if classes and all(_is_module(index, item) for item in values):
            yield TensorModule(value, statement, keys[0], classes, others, elsewhere)


def _is_module(index: SemanticIndex, value: ast.expr | None) -> bool:
    if isinstance(value, ast.IfExp):
        return index.qualified_name(value.body) == _CUDA and index.qualified_name(value.orelse) == _HOST
    return value is not None and index.qualified_name(value) in (_CUDA, _HOST)
