"""Moves that set the values of what is moved: ``p.data = p.data.cuda()``."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability
from tpulint.semantic import SemanticIndex

REFUSED = "torch_xla refuses to set the `.data` of a tensor of the host to one of the device"
INSTEAD = (
    "Move the module that owns it with `.to(device)`, or swap the parameter itself: "
    "`torch.utils.swap_tensors(p, torch.nn.Parameter(p.data.to(device), p.requires_grad))`"
)
PARAMETERS = frozenset({"weight", "bias"})
"""What layers of torch call their parameters; anything else may be a plain tensor."""
_VALUES = ("data", "detach")
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
    return moved if ast.dump(moved) == ast.dump(target.value) else None


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
