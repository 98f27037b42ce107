"""What makes the batches of a loop: generators, functions that return a list of them, lists that are written out."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tpulint.records import NamedTuple
from tpulint.semantic.batches.fed_parameters import sources_of
from tpulint.semantic.project.outside import EVALUATION, STEP
from tpulint.semantic.syntax.nodes import Comprehension, FunctionNode, LoopNode
from tpulint.semantic.syntax.torch_facts import ITERABLE_WRAPPERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 6
_THROUGH = ITERABLE_WRAPPERS | {"builtins.list"}


class BatchMaker(NamedTuple):
    """A loop each turn of which makes one batch for another loop."""

    loop: LoopNode | Comprehension
    function: FunctionNode | None
    """The function that makes them; None where the other loop goes through a list that is made beside it."""
    turn: str
    """What the turns of the other loop are called."""
    is_drawn: bool
    """Whether the batches of a generator are made one by one as the other loop goes on, or all of them before it."""
    taker: LoopNode | None
    """The other loop, if it stands in the same file."""


class BatchIterator(NamedTuple):
    """The method ``__next__`` of a class, each call of which makes one batch for a loop."""

    function: FunctionNode
    turn: str
    """What the turns of the loop are called."""
    taker: LoopNode | None
    """The loop, if it stands in the same file."""


class BatchMakers:
    """All of one file. Data loaders are another matter."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self.iterators: dict[FunctionNode, BatchIterator] = {}
        """Methods ``__next__`` of classes of this file whose objects loops go through."""
        found: dict[LoopNode | Comprehension, BatchMaker] = {}
        for maker in self._makers():
            if maker.loop not in found or maker.turn == STEP:  # what trains first of all
                found[maker.loop] = maker
        self.all = sorted(found.values(), key=lambda maker: index.span(maker.loop))
        """In order of position, each once."""

    def _makers(self) -> Iterator[BatchMaker]:
        index = self._index
        if not (index.tree.loops or index.outside):
            return
        for node in index.regions.evaluation_loops:
            yield from self._for(node, EVALUATION, ())
        for loop in index.step_loops:
            yield from self._for(loop.node, STEP, loop.functions)
        for driver in index.regions.drivers.loops.values():
            yield from self._for(driver.node, driver.call.turn, driver.functions)
        for outside in index.outside:
            for turn, paths in ((EVALUATION, outside.fed_evaluation), (STEP, outside.fed)):
                # What lies behind a key of a dictionary is a data loader, or nothing that is known.
                parts = [path for path in map(_places, paths) if path is not None]
                for function in index.definitions.named(outside.function) if parts else ():
                    yield from self._in(function, turn, None, parts)
                    self._note_iterator(index.tree.class_of(function), turn, None)

    def _for(self, taker: LoopNode, turn: str, functions: Iterable[FunctionNode]) -> Iterator[BatchMaker]:
        """What makes the batches of one loop."""
        index = self._index
        made: list[tuple[ast.Call, tuple[int, ...]]] = []
        made += [(call, ()) for call in index.loaders.makers_of(taker, functions)]
        for source in sources_of(index, taker, functions):
            made += self._calls_behind(source, (), 0)
            for listed in self._listed(source, 0):
                yield BatchMaker(listed, None, turn, False, taker)
        for call, path in made:
            function = index.definitions.function_called(call)
            owner = None if function is not None else index.definitions.class_called(call)
            if owner is not None:
                function = index.definitions.method(owner, "__iter__")
                self._note_iterator(owner, turn, taker)
            if function is not None:
                yield from self._in(function, turn, taker, (path,))

    def _note_iterator(self, owner: ast.ClassDef | None, turn: str, taker: LoopNode | None) -> None:
        """Note a class whose objects are iterators themselves: ``def __iter__(self): self.at = 0; return self``."""
        start = None if owner is None else self._index.definitions.method(owner, "__iter__")
        going = None if owner is None else self._index.definitions.method(owner, "__next__")
        if start is None or going is None or (going in self.iterators and turn != STEP):
            return
        given = self._index.definitions.returned_by(start)
        if given and all(isinstance(item, ast.Name) and item.id == "self" for item in given):
            self.iterators[going] = BatchIterator(going, turn, taker)

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
            for binding in flow.bindings_of(source):
                if binding.kind == "assign" and binding.value is not None and not path:
                    yield from self._calls_behind(binding.value, binding.path, depth + 1)

    def _listed(self, source: ast.expr, depth: int) -> Iterator[Comprehension]:
        """Lists that are written out, and those that they are made of: ``[pad(x) for x in batches]``."""
        index = self._index
        if depth > _DEPTH:
            return
        if isinstance(source, Comprehension):
            yield source
            if len(source.generators) == 1:
                yield from self._listed(source.generators[0].iter, depth + 1)
        elif isinstance(source, ast.Call):
            if index.qualified_name(source.func) in _THROUGH:
                for item in source.args:
                    yield from self._listed(item, depth + 1)
        elif isinstance(source, ast.Name) and not self._is_shortened(source):
            for binding in index.flow.reaching(source):
                if binding.kind == "assign" and binding.value is not None and not binding.path:
                    yield from self._listed(binding.value, depth + 1)

    def _is_shortened(self, name: ast.Name) -> bool:
        """Whether anything is taken out of a list again: the last batch, maybe."""
        parents = [self._index.parent(use) for use in self._index.names.loads_of(name)]
        return any(
            (isinstance(parent, ast.Attribute) and parent.attr in ("pop", "remove"))
            or (isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Del | ast.Store))
            for parent in parents
        )

    def _in(
        self, function: FunctionNode, turn: str, taker: LoopNode | None, parts: Iterable[tuple[int, ...]]
    ) -> Iterator[BatchMaker]:
        """The loops of a function that make what it yields, or what it puts into a list that it returns."""
        tree = self._index.tree
        for node in tree.nodes_in(function, ast.Yield, functions=False):
            loop = tree.loop_of(node)
            if loop is not None and tree.encloses(function, loop):
                yield BatchMaker(loop, function, turn, True, taker)
        returned = [item for value in self._index.definitions.returned_by(function) for item in _items(value, parts)]
        for value in returned:
            for listed in self._listed(value, 0):
                yield BatchMaker(listed, function, turn, False, taker)
        lists = {item.id for item in returned if isinstance(item, ast.Name)}
        for call in tree.nodes_in(function, ast.Call, functions=False) if lists else ():
            func = call.func if isinstance(call, ast.Call) else None
            if isinstance(func, ast.Attribute) and func.attr == "append" and isinstance(func.value, ast.Name):
                loop = tree.loop_of(call) if func.value.id in lists else None
                if loop is not None and tree.encloses(function, loop):
                    yield BatchMaker(loop, function, turn, False, taker)


def _places(path: tuple[int | str, ...]) -> tuple[int, ...] | None:
    """A path without keys."""
    places = tuple(at for at in path if isinstance(at, int))
    return places if len(places) == len(path) else None


def _items(value: ast.expr, parts: Iterable[tuple[int, ...]]) -> Iterator[ast.expr]:
    """These parts of what is returned."""
    for path in parts:
        item = value
        for at in path:
            item = item.elts[at] if isinstance(item, ast.Tuple) and 0 <= at < len(item.elts) else value
        yield item
