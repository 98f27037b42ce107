"""Values that are taken for tensors, as what models give mostly is, and may as well be lists of them."""

from __future__ import annotations

import ast

from tpulint.semantic.project.other_files import returned
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding, part_of
from tpulint.semantic.syntax.variables import itself
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_SEQUENCES = (ast.List, ast.ListComp, ast.Tuple)
_OF_TENSORS = frozenset({"shape", "device", "dtype", "grad", "data", "T", "requires_grad", "ndim"})
_TAKING_LISTS = frozenset(
    {"stack", "cat", "concat", "concatenate", "hstack", "vstack", "broadcast_tensors", "block_diag"}
)


def may_be_list(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether a variable is what a module of an unknown class gives, or a function that may give a list, and nothing
    in sight treats it as one tensor: ``hiddens, score = net(x)``. One that is put into a list where it is none, ``if
    not isinstance(y, list): y = [y]``, is a list."""
    if not isinstance(node, ast.Name):
        return False
    bindings = index.flow.reaching(node)
    given = (part_of(binding.value, binding.path) for binding in bindings if binding.kind == "assign")
    if any(isinstance(value, _SEQUENCES) for value in given):
        return True
    return any(_may_give_list(index, binding) for binding in bindings) and not _is_used_as_tensor(index, node)


def _may_give_list(index: SemanticIndex, binding: Binding) -> bool:
    call = binding.value
    if binding.kind != "assign" or not isinstance(call, ast.Call) or index.definitions.function_called(call):
        return False
    if index.kind(call.func) is not Kind.MODULE:
        made = index.imported.called(call)
        values = [] if made is None or made.is_class or binding.path else returned(made)
        return any(isinstance(value, _SEQUENCES) for value in values)
    func = call.func
    if not isinstance(func, ast.Name | ast.Attribute):
        return False
    owners = index.definitions.classes.of_variable(func) or index.imported.classes_of(func)
    return not owners and not _is_of_torch(index, func)


def _is_of_torch(index: SemanticIndex, module: ast.Name | ast.Attribute) -> bool:
    """Whether a module is made of layers of torch: a ``Linear`` gives one tensor."""
    owner = index.tree.class_of(module) if isinstance(module, ast.Attribute) else None
    made = index.names.attribute_bindings(owner, module.attr) if owner and isinstance(module, ast.Attribute) else []
    made = made or list(index.flow.bindings_of(module))
    calls = [None if binding.value is None else itself(binding.value) for binding in made]
    return bool(calls) and all(
        isinstance(call, ast.Call) and (index.qualified_name(call.func) or "").startswith("torch.nn.") for call in calls
    )


def _is_used_as_tensor(index: SemanticIndex, node: ast.Name) -> bool:
    """Whether the function treats a variable as one tensor elsewhere: a method, arithmetic, a function of torch."""
    function = index.function_of(node)
    for other in index.tree.names_called(node.id):
        if other is node or index.function_of(other) is not function or not isinstance(other.ctx, ast.Load):
            continue
        parent = index.parent(other)
        if isinstance(parent, ast.Attribute) and (parent.attr in facts.TENSOR_METHODS or parent.attr in _OF_TENSORS):
            return True
        if isinstance(parent, ast.BinOp | ast.UnaryOp | ast.Compare):
            return True
        if isinstance(parent, ast.Subscript) and parent.value is other and isinstance(parent.slice, ast.Tuple):
            return True
        name = index.qualified_name(parent.func) or "" if isinstance(parent, ast.Call) else ""
        if name.startswith("torch.") and name.rpartition(".")[2] not in _TAKING_LISTS:
            return True
    return False
