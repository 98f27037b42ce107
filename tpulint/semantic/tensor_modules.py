"""Variables that hold a module for the sake of its tensor classes: ``tt = torch.cuda if use_cuda else torch``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.records import NamedTuple
from tpulint.semantic.torch_facts import CUDA_TENSOR_TYPES
from tpulint.semantic.variables import Key

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
        if isinstance(target, ast.Name):
            loads, values = variables.loads(keys[0]), [binding.value for binding in index.names.bindings(target)]
        elif isinstance(target, ast.Attribute) and (owner := owner_of(index, target)) is not None:
            loads += loads_of_objects(index, owner, target)
            values = [binding.value for binding in index.names.attribute_bindings(owner, target.attr)]
        users = [user for load in loads if isinstance(user := index.parent(load), ast.Attribute)]
        classes = [user for user in users if user.attr in CUDA_TENSOR_TYPES]
        others = [load for load in loads if index.parent(load) not in classes]
        if others and index.qualified_name(target) is not None:
            continue  # `tt = torch.cuda`, always: each part of it is known by its name
        if classes and all(_is_module(index, item) for item in values):
            yield TensorModule(value, statement, keys[0], classes, others)


def _is_module(index: SemanticIndex, value: ast.expr | None) -> bool:
    if isinstance(value, ast.IfExp):
        return index.qualified_name(value.body) == _CUDA and index.qualified_name(value.orelse) == _HOST
    return value is not None and index.qualified_name(value) in (_CUDA, _HOST)


def owner_of(index: SemanticIndex, target: ast.expr) -> ast.ClassDef | None:
    """The class whose objects keep an attribute: ``self.Tensor = torch.cuda.FloatTensor``."""
    function = index.function_of(target)
    first = function.args.args[0].arg if function is not None and function.args.args else ""
    is_own = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == first
    return index.tree.class_of(target) if is_own else None


def loads_of_objects(index: SemanticIndex, owner: ast.ClassDef, target: ast.Attribute) -> list[ast.Attribute]:
    """Reads of the attribute by methods of the class, and of those of this file that have no other of the name."""
    found = []
    for node in index.tree.attributes_called(target.attr):
        reader = owner_of(index, node) if isinstance(node.ctx, ast.Load) else None
        if reader is owner or (reader is not None and not index.names.attribute_bindings(reader, target.attr)):
            found.append(node)
    return found
