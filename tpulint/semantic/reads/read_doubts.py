"""What speaks against giving the number in place of a tensor that is read: who takes it, and where it may lie."""

from __future__ import annotations

import ast

from tpulint.semantic.project.other_files import Definition, method
from tpulint.semantic.reads.reads import Read
from tpulint.semantic.syntax.nodes import FunctionNode, LoopNode
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_OF_TENSORS = frozenset({"cpu", "data", "detach", "item", "mean", "numpy", "shape", "size", "sum", "tolist"})
"""What tensors have and numbers have not."""


def is_taken_as_tensor(index: SemanticIndex, read: Read) -> bool:
    """Whether it is given to a method of the project that may ask it for what a number has not: ``loss.item()``."""
    tree = index.tree
    call = next((item for item in tree.ancestors(read.node) if isinstance(item, ast.Call | ast.stmt)), None)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    receiver = call.func.value
    own = tuple(Definition(index, owner) for owner in index.definitions.classes.made(receiver))
    owners = own or index.imported.classes_of(receiver)
    found = [method(owner, call.func.attr) for owner in owners]
    return any(item is None or _asks(item) for item in found)


def _asks(function: Definition) -> bool:
    nodes = function.file.tree.nodes_in(function.node, ast.Attribute)
    return any(isinstance(node, ast.Attribute) and node.attr in _OF_TENSORS for node in nodes)


def may_be_on_host(index: SemanticIndex, tensor: ast.expr, turn: LoopNode | FunctionNode) -> bool:
    """Whether an unknown function gives a tensor, through which no gradient of the step goes."""
    tree = index.tree
    trained = {
        name.id
        for call in tree.nodes_in(turn, ast.Call)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "backward"
        for name in (call.func.value, *tree.inside(call.func.value))
        if isinstance(name, ast.Name)
    }
    names = [node for node in (tensor, *tree.inside(tensor)) if isinstance(node, ast.Name)]
    return any(
        isinstance(binding.value, ast.Call) and not _is_known(index, binding.value)
        for node in names
        if node.id not in trained
        for binding in index.flow.reaching(node)
    )


def _is_known(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether it is known what a call runs: torch, a method of a tensor, a module, a function of the project."""
    if (index.qualified_name(call.func) or "").startswith("torch."):
        return True
    if isinstance(call.func, ast.Attribute) and index.kind(call.func.value) is Kind.TENSOR:
        return True
    if index.kind(call.func) is Kind.MODULE or index.definitions.function_run(call) is not None:
        return True
    return index.imported.called(call) is not None
