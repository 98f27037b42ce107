"""Attributes that the objects of a class keep, and who reads them: its methods, others of the file, other files."""

from __future__ import annotations

import ast

from tpulint.semantic.project.other_files import Definition, with_bases
from tpulint.semantic.syntax.torch_facts import CUDA_TENSOR_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def owner_of(index: SemanticIndex, target: ast.expr) -> ast.ClassDef | None:
    """The class whose objects keep an attribute: ``self.Tensor = torch.cuda.FloatTensor``."""
    function = index.function_of(target)
    first = function.args.args[0].arg if function is not None and function.args.args else ""
    is_own = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == first
    return index.tree.class_of(target) if is_own else None


def loads_of_objects(index: SemanticIndex, owner: ast.ClassDef, target: ast.Attribute) -> list[ast.Attribute]:
    """Reads of the attribute in this file: by methods of the class, by those of others that have none of the name
    themselves, and from what is known to be an object of the class, ``self.types.Tensor``."""
    found = []
    for node in index.tree.attributes_called(target.attr):
        reader = owner_of(index, node) if isinstance(node.ctx, ast.Load) else None
        is_own = reader is owner or (reader is not None and not index.names.attribute_bindings(reader, target.attr))
        if is_own or (isinstance(node.ctx, ast.Load) and reader is None and _is_object_of(index, node.value, owner)):
            found.append(node)
    return found


def is_read_elsewhere(index: SemanticIndex, owner: ast.ClassDef, target: ast.Attribute) -> bool:
    """Whether a tensor is made with the attribute where another file takes it from what may be an object of the
    class, or this one from what it does not know."""
    known = loads_of_objects(index, owner, target)
    here = [node for node in index.tree.attributes_called(target.attr) if node not in known]
    if any(_makes_tensor(index, node) and _may_be_of(index, node, owner) for node in here):
        return True
    return any(
        _makes_tensor(other, node) and _may_be_of(other, node, owner)
        for other in index.imported.others_mentioning(target.attr)
        for node in other.tree.attributes_called(target.attr)
    )


def _is_object_of(index: SemanticIndex, node: ast.expr, owner: ast.ClassDef) -> bool:
    """Whether what has a name is made by the class, or by one of this file that is derived from it."""
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    classes = index.definitions.classes.made(node)
    return bool(classes) and all(owner in index.names.classes_above(item) for item in classes)


def _may_be_of(index: SemanticIndex, node: ast.Attribute, owner: ast.ClassDef) -> bool:
    """Whether an attribute that a file reads may be one of an object of the class, of this file or another."""
    if not isinstance(node.ctx, ast.Load) or index.qualified_name(node) is not None:
        return False
    reader = owner_of(index, node)
    if reader is not None and index.names.attribute_bindings(reader, node.attr):
        return False
    classes = index.imported.classes_here(node.value, index) if reader is None else ()
    return not classes or any(owner.name in _names_above(item) for item in classes)


def _names_above(made: Definition) -> list[str]:
    """Names of a class and of those that it is derived from."""
    return [item.node.name for item in with_bases(made) if isinstance(item.node, ast.ClassDef)]


def _makes_tensor(index: SemanticIndex, node: ast.Attribute) -> bool:
    """``types.Tensor(3)``, ``x.type(types.Tensor)``, or a class taken from a module, ``beam.tt.FloatTensor``."""
    user = index.parent(node)
    if isinstance(user, ast.Attribute):
        return user.attr in CUDA_TENSOR_TYPES
    if not isinstance(user, ast.Call):
        return False
    is_conversion = isinstance(user.func, ast.Attribute) and user.func.attr == "type" and user.args == [node]
    return user.func is node or is_conversion
