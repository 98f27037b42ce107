"""Numbers that the turns of a loop within a step read, and that nothing needs in front of the step boundary."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.records import NamedTuple
from tpulint.semantic.loops.regions import Step
from tpulint.semantic.reads.reads import Read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class InnerValue(NamedTuple):
    """A variable that can hold the tensor up to the boundary, where it is given the number."""

    name: str
    reads: tuple[Read, ...]
    """All that its statement makes."""
    is_scalar: bool
    """Whether the tensor certainly has no dimensions."""


def inner_values(index: SemanticIndex, loop: Step, reads: Sequence[Read], boundary: ast.stmt) -> list[InnerValue]:
    """``if turn == 0: first = loss.item()`` of ``for turn in range(3):``, in front of the boundary of the step.

    The loop trains, so that it has turns; in each step one of them, if not all, gives the variable its value.
    """
    found: dict[ast.stmt, InnerValue] = {}
    for read in reads:
        statement = index.statement_of(read.node)
        if statement in found or not isinstance(statement, ast.Assign) or not index.held_values.is_holdable(read):
            continue
        target, inner = statement.targets[0], _inner_loop(index, statement, boundary)
        if inner is None or not isinstance(target, ast.Name) or len(statement.targets) > 1:
            continue
        trains = any(index.tree.encloses(inner, event) for event in loop.backwards)
        if not trains or not _is_needed_behind(index, target, inner, boundary):
            continue
        made = tuple(index.reads.inside(statement))
        if any(index.number_types.is_integer(one.tensor) for one in made):
            continue
        found[statement] = InnerValue(target.id, made, all(index.scalars.is_scalar(one.tensor) for one in made))
    return list(found.values())


def _inner_loop(index: SemanticIndex, statement: ast.stmt, boundary: ast.stmt) -> ast.For | None:
    """The loop in front of the boundary, in its block, that comes to a statement in every step."""
    tree = index.tree
    holder, child = tree.parent(statement), statement
    branch = holder if isinstance(holder, ast.If) else None
    if branch is not None:
        holder, child = tree.parent(branch), branch
    suite = tree.suite_of(boundary)
    if not isinstance(holder, ast.For) or child not in holder.body or holder not in suite or holder.orelse:
        return None
    if suite.index(holder) > suite.index(boundary):
        return None
    if branch is not None and (statement not in branch.body or not _holds_once(index, branch.test, holder)):
        return None
    between = suite[suite.index(holder) : suite.index(boundary)]
    exits = any(isinstance(node, ast.Break | ast.Continue | ast.Return) for one in between for node in ast.walk(one))
    return None if exits else holder


def _holds_once(index: SemanticIndex, test: ast.expr, loop: ast.For) -> bool:
    """``turn == 0`` or ``turn == n - 1`` of ``for turn in range(n):``"""
    call, counter = loop.iter, loop.target
    if not isinstance(call, ast.Call) or index.qualified_name(call.func) != "builtins.range" or len(call.args) != 1:
        return False
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq) or len(test.ops) > 1:
        return False
    if ast.unparse(test.left) != ast.unparse(counter):
        return False
    end, turn = call.args[0], test.comparators[0]
    if isinstance(turn, ast.Constant):
        return turn.value == 0
    is_last = ast.unparse(turn) == f"{ast.unparse(end)} - 1"
    return is_last and not index.deferrals.may_change(loop.body, [end])


def _is_needed_behind(index: SemanticIndex, target: ast.Name, inner: ast.For, boundary: ast.stmt) -> bool:
    """Whether a variable has no other value, and is needed in its function alone and not up to the boundary."""
    loads = index.names.loads(target.id, index.names.scope_of(target))
    if len(index.names.bindings(target)) != 1 or not loads:
        return False
    begin, end = index.span(inner).start, index.span(boundary).end
    return all(
        index.function_of(load) is index.function_of(target)
        and index.tree.lambda_of(load) is None
        and not begin <= index.span(load).start < end
        for load in loads
    )
