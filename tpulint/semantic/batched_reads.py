"""Several reads of one turn behind its step boundary, which one transfer can serve."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from tpulint.semantic.kinds import Kind
from tpulint.semantic.reads import How, Read, Use
from tpulint.semantic.regions import Pace, StepLoop

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

    def of(self, loop: StepLoop) -> ReadGroup | None:
        """The reads behind the boundary that one transfer can serve, where there are at least two."""
        index = self._index
        boundary = index.deferrals.boundary_statement(loop)
        if boundary is None:
            return None
        suite = index.tree.suite_of(boundary)
        reads: list[Read] = []
        for statement in suite[suite.index(boundary) + 1 :]:
            reads.extend(read for read in index.reads.inside(statement) if self._is_plain(read, statement, boundary))
        tensors: dict[str, ast.expr] = {}
        for read in reads:
            tensors.setdefault(ast.dump(read.tensor), read.tensor)
        return ReadGroup(boundary, tuple(reads), tuple(tensors.values())) if len(reads) > 1 else None

    def _is_plain(self, read: Read, statement: ast.stmt, boundary: ast.Expr) -> bool:
        """Whether a read happens in every turn and gives one number of a tensor that is ready at the boundary."""
        index = self._index
        if read.use is Use.BRANCH or index.pace_of(read.node) is not Pace.STEP or not self._is_number(read):
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
            return self.is_scalar(read.tensor)
        if read.how is How.CAST and isinstance(read.node, ast.Call):
            return self._index.qualified_name(read.node.func) == "builtins.float"
        return read.scalar

    def is_scalar(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a tensor is known to have no dimensions: a loss, a mean, a sum."""
        index = self._index
        if depth > 6:
            return False
        if isinstance(node, ast.Name):
            bindings = index.flow.reaching(node)
            if any(self._is_loss(binding.name, node) for binding in bindings[:1]):
                return True
            return bool(bindings) and all(
                b.kind == "assign" and not b.path and b.value is not None and self.is_scalar(b.value, depth + 1)
                for b in bindings
            )
        if isinstance(node, ast.BinOp):
            sides = (node.left, node.right)
            return all(self.is_scalar(side, depth + 1) or index.kind(side) is Kind.HOST for side in sides)
        if isinstance(node, ast.Attribute):
            return node.attr == "data" and self.is_scalar(node.value, depth + 1)
        if isinstance(node, ast.Call):
            name = index.qualified_name(node.func) or ""
            plain = not any(k.arg in ("dim", "axis", "reduction", "keepdim") for k in node.keywords)
            if name.startswith("torch.nn.functional.") and ("loss" in name or name.endswith(("entropy", "kl_div"))):
                return plain
            if isinstance(node.func, ast.Attribute):
                if node.func.attr in ("mean", "sum", "norm") and not node.args and plain and not name:
                    return True
                if node.func.attr in ("detach", "float", "clone", "item") and not name:
                    return self.is_scalar(node.func.value, depth + 1)
            return name == "torch.nn.utils.clip_grad_norm_"
        return False

    def _is_loss(self, name: str, node: ast.Name) -> bool:
        """Whether ``name.backward()`` is called, which only a tensor of one number allows."""
        for call, receiver in self._index.method_calls("backward"):
            if not call.args and isinstance(receiver, ast.Name) and receiver.id == name:
                if self._index.function_of(call) is self._index.function_of(node):
                    return True
        return False
