"""Moves that set the values of what is moved: ``p.data = p.data.cuda()``."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability
from tpulint.semantic import Kind, SemanticIndex
from tpulint.semantic.project.other_files import Definition, with_bases
from tpulint.semantic.syntax.variables import last_name

REFUSED = "torch_xla refuses to set the `.data` of a tensor of the host to one of the device"
INSTEAD = (
    "Move the module that owns it with `.to(device)`, or swap the parameter itself: "
    "`torch.utils.swap_tensors(p, torch.nn.Parameter(p.data.to(device), p.requires_grad))`"
)
PARAMETERS = frozenset({"weight", "bias"})
"""What layers of torch call their parameters; anything else may be a plain tensor."""
_VALUES = ("data", "detach")
_TENSORS = frozenset({"Tensor", "Parameter", "Buffer", "Variable"})
"""What classes whose objects are tensors are derived from."""
_DATASETS = "torchvision.datasets."
_OBJECTS = (Kind.MODULE, Kind.LOADER, Kind.OPTIMIZER, Kind.SCHEDULER, Kind.DISTRIBUTION)
_REASON = "A new parameter takes the place of the old one, which an optimizer that was built before keeps."


def tensor_set(index: SemanticIndex, move: ast.Call) -> ast.expr | None:
    """``p`` of ``p.data = p.data.cuda()``, a tensor of the host if the move has anything to do."""
    statement = index.parent(move)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not isinstance(move.func, ast.Attribute):
        return None
    target, moved = statement.targets[0], move.func.value
    if not isinstance(target, ast.Attribute) or target.attr != "data":
        return None
    if isinstance(moved, ast.Call):
        moved = moved.func
    if isinstance(moved, ast.Attribute) and moved.attr in _VALUES:
        moved = moved.value
    if ast.dump(moved) != ast.dump(target.value) or _has_own_data(index, moved):
        return None
    return moved


def _has_own_data(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether ``data`` is a variable like any other of an object: ``self.data`` of a dataset is no tensor's values."""
    owners = _classes(index, node)
    if owners:
        return not any(map(_makes_tensors, owners))
    if index.kind(node) in _OBJECTS:
        return True
    made = [creation for creation in index.moves.creations.of(node) if not creation.path]
    return bool(made) and all(isinstance(one.node, ast.Call) and _is_dataset(index, one.node) for one in made)


def _classes(index: SemanticIndex, node: ast.expr) -> tuple[Definition, ...]:
    """The classes that an expression is an object of; for ``self`` of a method, the one it stands in."""
    function, owner = index.function_of(node), index.tree.class_of(node)
    first = function.args.args[:1] if function is not None and index.parent(function) is owner else []
    if owner is not None and isinstance(node, ast.Name) and [item.arg for item in first] == [node.id]:
        return (Definition(index, owner),)
    return index.imported.classes_here(node, index)


def _makes_tensors(owner: Definition) -> bool:
    classes = [one.node for one in with_bases(owner) if isinstance(one.node, ast.ClassDef)]
    return any(last_name(base) in _TENSORS for one in classes for base in one.bases)


def _is_dataset(index: SemanticIndex, made: ast.Call) -> bool:
    return (index.qualified_name(made.func) or "").startswith(_DATASETS)


def make_parameter(ctx: FileContext, fix: FixBuilder | None, move: ast.Call, tensor: ast.expr) -> FixBuilder | None:
    """Complete the fix of the move with a new parameter in the place of the old one; None where it may be none."""
    if fix is None or not isinstance(tensor, ast.Attribute) or tensor.attr not in PARAMETERS:
        return None
    statement = ctx.index.statement_of(move)
    assert isinstance(statement, ast.Assign)
    fix.replace(statement.targets[0], ctx.text(tensor))
    fix.insert(ctx.index.span(move).start, f"{fix.use('torch', at=move)}.nn.Parameter(")
    fix.append(move, f", requires_grad={ctx.text(tensor)}.requires_grad)")
    fix.lower(Applicability.UNSAFE, _REASON)
    return fix
