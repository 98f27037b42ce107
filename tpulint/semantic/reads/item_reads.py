"""Tensors of a list or dict that are read one by one: ``{k: v.item() for k, v in losses.items()}``."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.loops.regions import Pace, Step
from tpulint.semantic.reads.reads import How, Read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class ItemReads(NamedTuple):
    """Reads of all tensors of one container behind a step boundary, which one transfer can serve."""

    boundary: ast.Expr
    node: ast.For | ast.DictComp | ast.ListComp | ast.GeneratorExp
    container: ast.expr
    method: str
    """How it is gone through: ``items``, ``values``, or "" for a list."""
    reads: tuple[Read, ...]
    """Of the loop's variable; nothing else is done with it."""
    are_scalars: bool
    """Whether the tensors are known to have no dimensions."""


def find_item_reads(index: SemanticIndex, loop: Step) -> list[ItemReads]:
    """Such loops and comprehensions in every turn of a step loop, in order of position."""
    boundary = index.boundaries.sync_of(loop)
    if boundary is None:
        return []
    suite = index.tree.suite_of(boundary)
    found = []
    for statement in suite[suite.index(boundary) + 1 :]:
        for node in (statement, *index.tree.inside(statement, functions=False)):
            if isinstance(node, ast.For | ast.DictComp | ast.ListComp | ast.GeneratorExp) and _is_in_every_turn(
                index, node, statement
            ):
                reads = _reads_of_items(index, node, boundary, statement)
                if reads is not None and index.pace_of(node) is Pace.STEP:
                    found.append(reads)
    return sorted(found, key=lambda item: index.span(item.node))


def _is_in_every_turn(index: SemanticIndex, node: ast.AST, statement: ast.stmt) -> bool:
    conditions = (ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.While, ast.Try, ast.comprehension)
    for ancestor in index.tree.ancestors(node) if node is not statement else ():
        if isinstance(ancestor, conditions):
            return False
        if ancestor is statement:
            break
    return True


def _reads_of_items(
    index: SemanticIndex,
    node: ast.For | ast.DictComp | ast.ListComp | ast.GeneratorExp,
    boundary: ast.Expr,
    statement: ast.stmt,
) -> ItemReads | None:
    header: ast.For | ast.comprehension = node if isinstance(node, ast.For) else node.generators[0]
    if isinstance(node, ast.For):
        if node.orelse:
            return None
    elif len(node.generators) > 1 or node.generators[0].ifs:
        return None
    container, method = header.iter, ""
    if isinstance(container, ast.Call):
        func = container.func
        if not isinstance(func, ast.Attribute) or func.attr not in ("items", "values") or container.args:
            return None
        container, method = func.value, func.attr
    variable = header.target
    if method == "items":
        if not isinstance(variable, ast.Tuple) or len(variable.elts) != 2:
            return None
        variable = variable.elts[1]
    if not isinstance(variable, ast.Name) or not isinstance(container, ast.Name | ast.Attribute):
        return None
    uses = {n for n in index.tree.inside(node) if isinstance(n, ast.Name) and n.id == variable.id} - {variable}
    if isinstance(node, ast.For) and _is_left_for_others(index, variable, node):
        return None
    reads = [read for read in index.reads.inside(node) if read.tensor in uses and _is_number(index, read)]
    if not reads or {read.tensor for read in reads} != uses:
        return None
    if not index.batched_reads.is_ready(container, boundary, statement):
        return None
    items = index.kinds.contents.of(container)
    are_scalars = bool(items) and all(index.scalars.is_scalar(item) for item in items)
    return ItemReads(boundary, node, container, method, tuple(reads), are_scalars)


def _is_left_for_others(index: SemanticIndex, variable: ast.Name, node: ast.For) -> bool:
    """Whether what the variable holds when the loop has ended is used: it would be a number then."""
    loads = index.names.loads(variable.id, index.names.scope_of(variable))
    return any(
        not index.tree.encloses(node, load) and any(b.node is variable for b in index.flow.reaching(load))
        for load in loads
    )


def _is_number(index: SemanticIndex, read: Read) -> bool:
    return read.how is How.FORMAT or index.scalars.is_number(read)
