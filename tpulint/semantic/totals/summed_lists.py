"""Lists of sums, one for each of a step's losses: ``parts[i] += loss.item()`` in a loop over the losses."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.reads.reads import Read
from tpulint.semantic.syntax.nodes import LoopNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class SummedList(NamedTuple):
    """A list of numbers that a step loop only adds to, so that tensors can be summed in it meanwhile."""

    name: str
    loop: LoopNode
    """The step loop, behind which the sums become numbers again."""
    reads: tuple[Read, ...]
    """The reads of all that is added."""


def summed_list(index: SemanticIndex, read: Read) -> SummedList | None:
    """The list that a read is added to an element of."""
    step = index.step_loop_of(read.node)
    name, loop = _added_to(index.statement_of(read.node)), None if step is None else step.node
    if name is None or not isinstance(loop, ast.For | ast.While) or not index.tree.encloses(loop, read.node):
        return None
    bindings, scope = index.names.bindings(name), index.names.scope_of(name)
    start = bindings[0] if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path else None
    if start is None or start.scope is not scope or not _are_numbers(start.value):
        return None
    if index.tree.encloses(loop, start.statement) or index.function_of(loop) is not index.function_of(name):
        return None
    reads: list[Read] = []
    for use in index.names.loads(name.id, scope):
        if index.function_of(use) is not index.function_of(name) or index.tree.lambda_of(use) is not None:
            return None
        if not index.tree.encloses(loop, use):
            continue
        statement = index.statement_of(use)
        added = index.reads.inside(statement)
        if _added_to(statement) is not use or not added or not isinstance(statement, ast.AugAssign):
            return None
        if not all(map(index.scalars.is_number, added)) or index.regions.gate_of(use) is not None:
            return None
        if not index.scalars.is_arithmetic(statement.value, {one.node for one in added}):
            return None
        if any(index.number_types.is_integer(one.tensor) for one in added):
            return None  # behind the loop they become numbers with a fraction
        reads += added
    return SummedList(name.id, loop, tuple(reads))


def _added_to(statement: ast.stmt) -> ast.Name | None:
    """The list in ``parts[i] += x``."""
    target = statement.target if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add) else None
    if not isinstance(target, ast.Subscript) or isinstance(target.slice, ast.Slice | ast.Tuple):
        return None
    return target.value if isinstance(target.value, ast.Name) else None


def _are_numbers(node: ast.expr | None) -> bool:
    """Whether an expression is a list of written numbers: ``[0.0, 0.0]``, ``[0.0] * n``, ``[0 for _ in names]``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _are_numbers(node.left) or _are_numbers(node.right)
    items = node.elts if isinstance(node, ast.List) else [node.elt] if isinstance(node, ast.ListComp) else []
    return bool(items) and all(isinstance(item, ast.Constant) and type(item.value) in (int, float) for item in items)
