"""Guards in front of the step boundary that ask for numbers, ``if math.isnan(loss.item()): raise ...``."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import How, Kind, Read, SemanticIndex, Step

_LATE = "The guard ends the training behind the update of the step, and no longer in front of it."
_FINITE = frozenset({"isnan", "isinf", "isfinite"})
"""Functions of torch, and methods, that ``math`` has for one number, by the same name."""
_WHOLE = frozenset({"any", "all", "item", "sum"})
"""Methods that make no difference to the truth of one element."""


def ask_behind(ctx: FileContext, read: Read, step: Step) -> FixBuilder | None:
    """The numbers read behind the boundary, and the guard asking for them there; None where it has to come earlier."""
    index = ctx.index
    boundary, guard = index.boundaries.sync_of(step), index.statement_of(read.node)
    if boundary is None or not isinstance(guard, ast.If | ast.Assert) or index.boundaries.is_behind(guard, step):
        return None
    reads = index.reads.inside(guard)
    asked = [one for one in reads if index.tree.encloses(guard.test, one.node)]
    tensors = {one.node: _tensor_asked(index, one) for one in asked}
    moved = index.deferrals.movable([guard], boundary) if asked and None not in tensors.values() else []
    if guard not in moved:
        return None
    fix = ctx.fix("Ask behind the step boundary", Applicability.UNSAFE, _LATE, Scope.STATEMENT)
    names: dict[str, str] = {}
    lines: list[str] = []
    for tensor in filter(None, tensors.values()):
        if tensor.id not in names:
            names[tensor.id] = index.names.fresh(f"{tensor.id}_value", tensor)
            lines.append(f"{names[tensor.id]} = {tensor.id}.item()")
    replaced: dict[ast.expr, str] = {}
    for one in reads:
        own = tensors.get(one.node)
        if own is not None:
            replaced |= _asked_of_number(ctx, fix, one, names[own.id])
        elif any(_is_number_of(index, one, other) for other in tensors.values() if other is not None):
            replaced[one.node] = names[ctx.text(one.tensor)]
    fix.move_behind(moved, boundary, "\n".join(lines), replaced)
    return fix


def _tensor_asked(index: SemanticIndex, read: Read) -> ast.Name | None:
    """The variable with one number that a condition is about, where Python can ask the same of the number."""
    tensor: ast.expr = read.tensor
    if read.how in (How.COPY, How.CAST) and not index.scalars.is_number(read):
        return None
    while isinstance(tensor, ast.Call) and isinstance(tensor.func, ast.Attribute) and tensor.func.attr in _WHOLE:
        if tensor.args or tensor.keywords or _asked_whether_finite(index, tensor.func.value) is None:
            break
        tensor = tensor.func.value
    asked = _asked_whether_finite(index, tensor)
    if asked is not None:
        tensor = asked[1]
    elif isinstance(tensor, ast.Compare):
        names = [side for side in (tensor.left, *tensor.comparators) if index.kind(side) is Kind.TENSOR]
        others = [side for side in (tensor.left, *tensor.comparators) if side not in names]
        if not names or not all(isinstance(side, ast.Constant) or index.kind(side) is Kind.HOST for side in others):
            return None
        if not all(isinstance(side, ast.Name) and _is_same(index, side, names[0]) for side in names):
            return None
        tensor = names[0]
    return tensor if isinstance(tensor, ast.Name) and index.scalars.is_scalar(tensor) else None


def _asked_whether_finite(index: SemanticIndex, node: ast.expr) -> tuple[str, ast.expr] | None:
    """The function and the tensor in ``torch.isnan(loss)`` and ``loss.isnan()``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.keywords:
        return None
    root, _, name = (index.qualified_name(node.func) or "").rpartition(".")
    if root == "torch":
        return (name, node.args[0]) if name in _FINITE and len(node.args) == 1 else None
    return (node.func.attr, node.func.value) if node.func.attr in _FINITE and not node.args else None


def _asked_of_number(ctx: FileContext, fix: FixBuilder, read: Read, name: str) -> dict[ast.expr, str]:
    """What stands where a condition asks for the tensor, with this name for its number."""
    index, call = ctx.index, read.tensor
    asked = _asked_whether_finite(index, call)
    while asked is None and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        call = call.func.value  # `.any()`
        asked = _asked_whether_finite(index, call)
    if asked is not None:
        return {read.node: f"{fix.use('math', at=read.node)}.{asked[0]}({name})"}
    if isinstance(read.tensor, ast.Compare):
        sides = (read.tensor.left, *read.tensor.comparators)
        return {side: name for side in sides if index.kind(side) is Kind.TENSOR}
    return {read.node: name}


def _is_number_of(index: SemanticIndex, read: Read, tensor: ast.Name) -> bool:
    """Whether a read takes the number out of the same tensor, to print it."""
    is_whole = read.how in (How.COPY, How.CAST) and index.scalars.is_number(read)
    return is_whole and _is_same(index, read.tensor, tensor)


def _is_same(index: SemanticIndex, node: ast.expr, tensor: ast.expr) -> bool:
    """Whether two names stand for one value."""
    if not isinstance(node, ast.Name) or not isinstance(tensor, ast.Name) or node.id != tensor.id:
        return False
    return [*index.flow.reaching(node)] == [*index.flow.reaching(tensor)]
