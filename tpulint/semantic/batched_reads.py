"""Several reads of one turn behind its step boundary, which one transfer can serve."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from tpulint.semantic.reads import How, Read, Use
from tpulint.semantic.regions import Pace, StepLoop
from tpulint.semantic.tree import LoopNode

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


class ReadGroup(NamedTuple):
    """Reads of single numbers that all happen in every turn."""

    boundary: ast.Expr
    reads: tuple[Read, ...]
    tensors: tuple[ast.expr, ...]
    """The different tensors that are read, in order of position."""


class BatchedReads:
    """Finds groups of reads behind the boundary of a step loop."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._memo: dict[LoopNode, ReadGroup | None] = {}

    def of(self, loop: StepLoop | LoopNode) -> ReadGroup | None:
        """The reads behind the boundary that one transfer can serve, where there are at least two."""
        node = loop.node if isinstance(loop, StepLoop) else loop
        if node not in self._memo:
            deferrals = self._index.deferrals
            is_step = isinstance(loop, StepLoop)
            boundary = (
                deferrals.boundary_statement(loop)
                if isinstance(loop, StepLoop)
                else deferrals.evaluation_boundary(loop)
            )
            self._memo[node] = (
                None if boundary is None else self._group(boundary, Pace.STEP if is_step else Pace.EVALUATION)
            )
        return self._memo[node]

    def _group(self, boundary: ast.Expr, pace: Pace) -> ReadGroup | None:
        index = self._index
        suite = index.tree.suite_of(boundary)
        reads: list[Read] = []
        for statement in suite[suite.index(boundary) + 1 :]:
            for read in index.reads.inside(statement):
                if index.pace_of(read.node) is pace and self._is_plain(read, statement, boundary):
                    reads.append(read)
        tensors: dict[str, ast.expr] = {}
        for read in reads:
            tensors.setdefault(ast.dump(read.tensor), read.tensor)
        return ReadGroup(boundary, tuple(reads), tuple(tensors.values())) if len(reads) > 1 else None

    def _is_plain(self, read: Read, statement: ast.stmt, boundary: ast.Expr) -> bool:
        """Whether a read happens in every turn and gives one number of a tensor that is ready at the boundary."""
        index = self._index
        if read.use is Use.BRANCH or not self._is_number(read):
            return False
        for ancestor in index.tree.ancestors(read.node):
            if isinstance(
                ancestor, ast.If | ast.IfExp | ast.BoolOp | ast.For | ast.While | ast.Try | ast.comprehension
            ):
                return False
            if ancestor is statement:
                break
        return self._is_ready(read.tensor, boundary)

    def _is_ready(self, tensor: ast.expr, boundary: ast.Expr) -> bool:
        """Whether an expression has the value it is read with at the boundary already."""
        index = self._index
        for node in (tensor, *index.tree.inside(tensor)):
            if isinstance(node, ast.Call | ast.NamedExpr | ast.Lambda | ast.Await):
                return False
            if isinstance(node, ast.Name):
                at = index.span(boundary).start
                bindings = index.flow.reaching(node)
                if not bindings or any(index.span(b.node).start > at for b in bindings):
                    return False
        return True

    def _is_number(self, read: Read) -> bool:
        if read.how is How.FORMAT:
            return self._index.scalars.is_scalar(read.tensor)
        if read.how is How.CAST and isinstance(read.node, ast.Call):
            return self._index.qualified_name(read.node.func) == "builtins.float"
        return read.scalar
