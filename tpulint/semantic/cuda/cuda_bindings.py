"""What a branch for CUDA gives names to, and the code that needs it: they stay apart together, or change together."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from tpulint.semantic.cuda.cuda_mentions import CudaMentions
from tpulint.semantic.cuda.guards import Guards
from tpulint.semantic.devices.placement import Placement
from tpulint.semantic.syntax.bindings import element_of
from tpulint.semantic.syntax.nodes import is_of_self
from tpulint.semantic.values.value import is_none

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_STREAMS = frozenset({
    "torch.cuda.stream", "torch.cuda.set_stream", "torch.cuda.current_stream", "torch.cuda.default_stream",
})  # fmt: skip
"""What is taken out, or kept for CUDA, together with the stream it is given."""
_SEEDS = frozenset({"torch.cuda.manual_seed", "torch.cuda.manual_seed_all"})
_Name = ast.Name | ast.Attribute
_Code = Sequence[ast.AST]
_Ask = Callable[[_Code], bool]
_Branch = tuple[_Code, _Code]


class CudaBindings:
    """Answers about the branches of one file. ``start.record()`` needs what ``start = torch.cuda.Event()`` binds."""

    def __init__(
        self,
        index: SemanticIndex,
        mentions: CudaMentions,
        placement: Placement,
        are_cuda: _Ask,
    ) -> None:
        self._index = index
        self._tree = index.tree
        self._mentions = mentions
        self._placement = placement
        self._are_cuda = are_cuda
        """Whether a branch is for CUDA only, by these answers among others."""
        self._guards = Guards(index.tree, index.names)
        """Conditions as they are read before anything is rewritten."""
        self._asked: set[ast.AST] = set()
        """What branches begin with that are being looked at: of two that need each other, neither is first."""
        self._followed: set[ast.AST] = set()
        """What branches begin with whose readers are being looked for."""

    def feed(self, body: _Code, are_cuda: _Ask | None = None) -> bool:
        """Whether a branch reads what other branches for CUDA alone give, and can be left to CUDA like those.

        ``are_cuda`` tells whether another branch is one of those; by themselves all branches for CUDA are.
        """
        if body[0] in self._asked or not self._may_be_left(body):
            return False
        self._asked.add(body[0])
        try:
            reads = (name for item in body for name in self._names(item, ast.Load))
            are_cuda = are_cuda or self._are_cuda
            given = any(self._comes_of_cuda(name, body, are_cuda) for name in reads)
            return given and not self.are_needed_elsewhere(body)
        finally:
            self._asked.discard(body[0])

    def are_needed_elsewhere(self, body: _Code) -> bool:
        """Whether something else than branches for CUDA reads what a branch gives, and nothing else gives that."""
        if body[0] in self._followed:
            return False
        self._followed.add(body[0])
        try:
            return self._is_read_elsewhere(body)
        finally:
            self._followed.discard(body[0])

    def _is_read_elsewhere(self, body: _Code) -> bool:
        return any(
            self._is_needed(load, body)
            for item in body
            for name in self._names(item, ast.Store)
            for load in self._loads(name)
            if not self._stands_in(load, body)
        )

    def _may_be_left(self, body: _Code) -> bool:
        """Whether a branch neither places anything nor seeds, which other devices need as well."""
        return not any(self._placement.places(item) or self._mentions.are_in(item, _SEEDS) for item in body)

    def _names(self, code: ast.AST, context: type[ast.expr_context]) -> Iterator[_Name]:
        for node in (code, *self._tree.inside(code)):
            if (isinstance(node, ast.Name) or is_of_self(node)) and isinstance(node.ctx, context):
                yield node

    def _loads(self, name: _Name) -> list[_Name]:
        if isinstance(name, ast.Name):
            return list[_Name](self._index.names.loads_of(name))
        return [load for load in self._namesakes(name) if isinstance(load.ctx, ast.Load)]

    def _namesakes(self, name: ast.Attribute) -> list[ast.Attribute]:
        """Where the objects of a class read or set the same attribute."""
        owner = self._tree.class_of(name)
        same = self._tree.attributes_called(name.attr)
        return [node for node in same if is_of_self(node) and owner is not None and self._tree.class_of(node) is owner]

    # ---------------------------------------------------------------- readers

    def _comes_of_cuda(self, load: _Name, body: _Code, are_cuda: _Ask) -> bool:
        """Whether branches for CUDA give a variable its value, and nothing else but None does."""
        given = [(at, value) for at, value in self._given(load) if not is_none(value)]
        outside = [(at, value) for at, value in given if not self._stands_in(at, body)]
        return bool(outside) and all(self._is_given_by_cuda(at, value, are_cuda) for at, value in outside)

    def _stands_in(self, node: ast.AST, body: _Code) -> bool:
        return any(self._tree.encloses(statement, node) for statement in body)

    def _given(self, load: _Name) -> list[tuple[ast.AST, ast.expr | None]]:
        """The places that give a variable its value, with that value where it is written out."""
        if isinstance(load, ast.Name):
            return [(binding.node, element_of(binding)) for binding in self._index.names.bindings(load)]
        stores = [node for node in self._namesakes(load) if isinstance(node.ctx, ast.Store)]
        found: list[tuple[ast.AST, ast.expr | None]] = []
        for store in stores:
            statement = self._tree.parents[store]
            found.append((store, statement.value if isinstance(statement, ast.Assign) else None))
        return found

    def _is_given_by_cuda(self, at: ast.AST, value: ast.expr | None, are_cuda: _Ask) -> bool:
        if isinstance(value, ast.IfExp) and is_none(value.orelse) and self._guards.asks_cuda(value.test):
            return self._mentions.are_in(value.body)
        branch = next(self._branches_around(at), None)
        return branch is not None and are_cuda(branch[0])

    def _branches_around(self, node: ast.AST) -> Iterator[_Branch]:
        """What conditions open around a node where CUDA is, and what goes with another answer."""
        child = node
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, ast.If) and child in ancestor.body and self._guards.asks_cuda(ancestor.test):
                yield ancestor.body, ancestor.orelse
            elif isinstance(ancestor, ast.IfExp) and child is ancestor.body and self._guards.asks_cuda(ancestor.test):
                yield [ancestor.body], [ancestor.orelse]
            child = ancestor

    # ---------------------------------------------------------------- what is needed

    def _is_needed(self, load: _Name, body: _Code) -> bool:
        if self._is_given_to_stream(load):
            return False
        branches = [branch for branch in self._branches_around(load) if body[0] not in branch[0]]
        if branches:
            return not any(self._stays(branch) for branch in branches)
        if not self._is_always_read(load):
            return False
        return all(self._stands_in(at, body) for at, _ in self._given(load))

    def _stays(self, branch: _Branch) -> bool:
        """Whether a branch can be left to CUDA: neither it nor what goes with the other answer places anything."""
        taken, other = branch
        if not self._may_be_left(taken) or any(map(self._placement.places, other)):
            return False
        return not self.are_needed_elsewhere(taken)

    def _is_given_to_stream(self, load: _Name) -> bool:
        """``with torch.cuda.stream(stream):``, ``torch.cuda.current_stream().wait_stream(stream)``"""
        child: ast.AST = load
        while isinstance(parent := self._tree.parents[child], ast.expr):
            child = parent
        return self._mentions.are_in(child, _STREAMS)

    def _is_always_read(self, load: _Name) -> bool:
        """Whether nothing but loops and functions stands around a read: no condition, nothing that may go wrong."""
        return isinstance(load, ast.Name) and not any(
            isinstance(ancestor, ast.If | ast.IfExp | ast.BoolOp | ast.Try | ast.Match | ast.While)
            for ancestor in self._tree.ancestors(load)
        )
