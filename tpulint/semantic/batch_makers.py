"""Functions of a file that make the batches of a loop: generators, and functions that return a list of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tpulint.records import NamedTuple
from tpulint.semantic.fed_parameters import sources_of
from tpulint.semantic.outside import EVALUATION, STEP
from tpulint.semantic.torch_facts import ITERABLE_WRAPPERS
from tpulint.semantic.tree import FunctionNode, LoopNode

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 6


class BatchMaker(NamedTuple):
    """A loop each turn of which makes one batch for another loop."""

    loop: LoopNode
    function: FunctionNode
    turn: str
    """What the turns of the other loop are called."""
    is_drawn: bool
    """Whether the batches of a generator are made one by one as the other loop goes on, or all of them before it."""
    taker: LoopNode | None
    """The other loop, if it stands in the same file."""


class BatchMakers:
    """All of one file. Data loaders are another matter."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        found: dict[LoopNode, BatchMaker] = {}
        for maker in self._makers():
            if maker.loop not in found or maker.turn == STEP:  # what trains first of all
                found[maker.loop] = maker
        self.all = sorted(found.values(), key=lambda maker: index.span(maker.loop))
        """In order of position, each once."""

    def _makers(self) -> Iterator[BatchMaker]:
        index = self._index
        if not index.tree.loops:
            return
        for node in index.regions.evaluation_loops:
            yield from self._for(node, EVALUATION, ())
        for loop in index.step_loops:
            yield from self._for(loop.node, STEP, loop.functions)
        for outside in index.outside:
            for turn, parts in ((EVALUATION, outside.fed_evaluation), (STEP, outside.fed)):
                for function in index.definitions.named(outside.function) if parts else ():
                    yield from self._in(function, turn, None, parts)

    def _for(self, taker: LoopNode, turn: str, functions: Iterable[FunctionNode]) -> Iterator[BatchMaker]:
        """What makes the batches of one loop."""
        index = self._index
        made: list[tuple[ast.Call, tuple[int, ...]]] = []
        made += [(call, ()) for call in index.loaders.makers_of(taker, functions)]
        for source in sources_of(index, taker, functions):
            made += self._calls_behind(source, (), 0)
        for call, path in made:
            function = index.definitions.function_called(call)
            owner = None if function is not None else index.definitions.class_called(call)
            if owner is not None:
                function = index.definitions.method(owner, "__iter__")
            if function is not None:
                yield from self._in(function, turn, taker, (path,))

    def _calls_behind(
        self, source: ast.expr, path: tuple[int, ...], depth: int
    ) -> Iterator[tuple[ast.Call, tuple[int, ...]]]:
        """Calls that give what a loop goes through, or a part of what they give."""
        flow = self._index.flow
        if depth > _DEPTH:
            return
        if isinstance(source, ast.Call):
            if self._index.definitions.function_called(source) is not None:
                yield source, path
            elif self._index.qualified_name(source.func) in ITERABLE_WRAPPERS and source.args:
                yield from self._calls_behind(source.args[0], (), depth + 1)
        elif isinstance(source, ast.Name | ast.Attribute):
            bindings = flow.reaching(source) if isinstance(source, ast.Name) else flow.reaching_attribute(source)
            for binding in bindings:
                if binding.kind == "assign" and binding.value is not None and not path:
                    yield from self._calls_behind(binding.value, binding.path, depth + 1)

    def _in(
        self, function: FunctionNode, turn: str, taker: LoopNode | None, parts: Iterable[tuple[int, ...]]
    ) -> Iterator[BatchMaker]:
        """The loops of a function that make what it yields, or what it puts into a list that it returns."""
        tree = self._index.tree
        for node in tree.nodes_in(function, ast.Yield, functions=False):
            loop = tree.loop_of(node)
            if loop is not None and tree.encloses(function, loop):
                yield BatchMaker(loop, function, turn, True, taker)
        lists = {name for value in self._index.definitions.returned_by(function) for name in _names(value, parts)}
        for call in tree.nodes_in(function, ast.Call, functions=False) if lists else ():
            func = call.func if isinstance(call, ast.Call) else None
            if isinstance(func, ast.Attribute) and func.attr == "append" and isinstance(func.value, ast.Name):
                loop = tree.loop_of(call) if func.value.id in lists else None
                if loop is not None and tree.encloses(function, loop):
                    yield BatchMaker(loop, function, turn, False, taker)


def _names(value: ast.expr, parts: Iterable[tuple[int, ...]]) -> Iterator[str]:
    """Variables in these parts of what is returned."""
    for path in parts:
        item = value
        for at in path:
            item = item.elts[at] if isinstance(item, ast.Tuple) and 0 <= at < len(item.elts) else value
        if isinstance(item, ast.Name):
            yield item.id
