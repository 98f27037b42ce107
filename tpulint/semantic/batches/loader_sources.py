"""What loops take their batches from that other files make, and what they hand to loops of other files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tpulint.records import NamedTuple
from tpulint.semantic.batches.batch_loops import gone_through
from tpulint.semantic.batches.drawn_parameters import drawn_by, gone_through_by
from tpulint.semantic.batches.fed_parameters import ANY, Handed, fed_elsewhere, sources_of
from tpulint.semantic.batches.left_out_batches import leaves_out_smaller
from tpulint.semantic.batches.lightning_loaders import sources_of_lightning
from tpulint.semantic.project.other_files import Definition, bases_above
from tpulint.semantic.project.outside import EVALUATION, STEP
from tpulint.semantic.values.entries import elements_of_loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.values.contained_objects import ContainedObjects

    _Path = tuple[str, ...]
    _Call = tuple[ast.Call, _Path]

_DEPTH = 6


class Source(NamedTuple):
    """What a loop runs over: an expression, or a part of what it gives."""

    node: ast.expr
    path: tuple[str, ...]
    turn: str
    """What the turns of the loop are called."""


class LoaderSources:
    """Answers about one file."""

    def __init__(self, index: SemanticIndex, contained: ContainedObjects) -> None:
        self._index = index
        self._contained = contained

    @cached_property
    def calls(self) -> list[tuple[ast.Call, tuple[str, ...], str]]:
        """Calls of functions in other files that give what loops run over, with the part and the turn of the loop.

        Calls of classes, too, whose objects keep it: the part is the attribute.
        """
        evaluated = self._evaluated()
        return [
            (*found, EVALUATION if found in evaluated else source.turn)
            for source in self._all
            for found in self._calls_behind(source.node, source.path, 0)
        ]

    @cached_property
    def variables(self) -> list[tuple[SemanticIndex, str, tuple[str, ...], str]]:
        """Variables of other files that loops run over, ``mnist.train_loader``, with the part and the turn of the loop.

        The part is what lies behind a key, ``loaders["train"]``.
        """
        found = []
        for source in self._all:
            for creation in self._contained.of(source.node, source.path):
                if not isinstance(creation.node, ast.alias):
                    continue
                count = int(isinstance(self._index.parent(creation.node), ast.Import))
                variable = self._index.imported.variable_imported(creation.node, creation.path[:count])
                part = tuple(map(_generalized, creation.path[count:]))
                found += [] if variable is None else [(*variable, part, source.turn)]
        return found

    @cached_property
    def inherited(self) -> list[tuple[Definition, tuple[str, ...], str]]:
        """Classes of other files whose objects keep what loops run over, with its path and the turn of the loop.

        A class of this file is derived from them: ``for x in self.loader``, which their ``__init__`` sets.
        """
        index = self._index
        found = []
        for source in self._all:
            for creation in self._contained.of(source.node, source.path):
                owner = index.tree.class_of(creation.node) if isinstance(creation.node, ast.arg) else None
                if isinstance(creation.node, ast.Call):
                    owner = index.definitions.class_called(creation.node)
                if owner is None or not creation.path or index.names.attribute_bindings(owner, creation.path[0]):
                    continue
                keeping = (
                    base
                    for base in bases_above(Definition(index, owner))
                    if isinstance(base.node, ast.ClassDef)
                    and base.file.names.attribute_bindings(base.node, creation.path[0])
                )
                nearest = next(keeping, None)
                if nearest is not None:
                    found.append((nearest, tuple(map(_generalized, creation.path)), source.turn))
        return found

    @cached_property
    def handed_over(self) -> list[Handed]:
        """What calls hand to functions of other files whose loops take their batches from it."""
        index = self._index
        return [given for call in index.imported.calls for given in fed_elsewhere(index, call)]

    @cached_property
    def _all(self) -> list[Source]:
        """What loops of this file, and of others that this one calls, run over."""
        index = self._index
        loops = [loop for loop in index.step_loops if not leaves_out_smaller(index, loop.node)]
        items = [(item, STEP) for loop in loops for item in sources_of(index, loop.node, loop.functions)]
        quiet = [node for node in index.regions.evaluation_loops if not leaves_out_smaller(index, node)]
        items += [(item, EVALUATION) for node in quiet for item in sources_of(index, node)]
        items += [(node.generators[0].iter, EVALUATION) for node in index.regions.listed_evaluations]
        drivers = index.regions.drivers.loops.values()
        items += [(item, one.call.turn) for one in drivers for item in sources_of(index, one.node, one.functions)]
        found = [Source(item, (), turn) for item, turn in items]
        found += [Source(one.item, one.path, turn) for one in self.handed_over for turn in sorted(one.turns)]
        found += [Source(item, (), turn) for item, turn in self.of_lightning]
        return [*found, *self.asked_for]  # what loops of other files run over that this one has from a third

    @cached_property
    def of_lightning(self) -> list[tuple[ast.expr, str]]:
        """What loops of Lightning run over, with what their turns are called."""
        return list(sources_of_lightning(self._index))

    @cached_property
    def asked_for(self) -> list[Source]:
        """What loops of other files run over that functions, objects and variables of this file give them."""
        found = []
        for outside in self._index.outside:
            for paths, turn in ((outside.fed, STEP), (outside.fed_evaluation, EVALUATION)):
                for value, part in self._given_by(outside.function) if paths else ():
                    found += [Source(value, (*part, *map(str, path)), turn) for path in paths]
                for function in self._index.definitions.named(outside.function) if () in paths else ():
                    found += [Source(item, (), turn) for item in gone_through_by(self._index, function)]
        return found

    def _given_by(self, name: str) -> list[tuple[ast.expr, _Path]]:
        """What a function returns, objects of a class keep in an attribute, ``Data.loader``, or a variable holds.

        With the part of a value that is unpacked.
        """
        index = self._index
        functions = index.definitions.named(name)
        if functions:
            return [(value, ()) for function in functions for value in index.definitions.returned_by(function)]
        owner, _, attribute = name.rpartition(".")
        if owner:
            classes = (node for node in index.tree.classes if node.name == owner)
            made = [binding for node in classes for binding in index.names.attribute_bindings(node, attribute)]
        else:
            made = [one for one in index.names.bindings_in(index.names.module, name) if one.kind == "assign"]
        whole = [one for one in made if all(place >= 0 for place in one.path)]
        return [(one.value, tuple(map(str, one.path))) for one in whole if one.value is not None]

    def _calls_behind(self, node: ast.expr, path: _Path, depth: int) -> Iterator[_Call]:
        for creation in self._contained.of(node, path):
            call = creation.node
            if depth <= _DEPTH:
                for item, part in elements_of_loop(self._index, creation):
                    yield from self._calls_behind(item, part, depth + 1)
            if not isinstance(call, ast.Call) or depth > _DEPTH:
                continue
            if self._index.imported.all_called(call):
                yield call, tuple(map(_generalized, creation.path))
                for item in drawn_by(self._index, call) if not creation.path else ():
                    yield from self._calls_behind(item, (), depth + 1)
            elif not creation.path:
                for item in gone_through(call):
                    yield from self._calls_behind(item, (), depth + 1)

    def _evaluated(self) -> set[_Call]:
        """What those calls give to functions of step loops which train nothing: ``run(model, test, None)``."""
        from tpulint.semantic.functions.ruled_out import given_by_purpose

        found: set[_Call] = set()
        for loop in self._index.step_loops if self._index.imported.knows_others else ():
            given = given_by_purpose(self._index, loop)
            made = {kind: {one for item in given[kind] for one in self._calls_behind(item, (), 0)} for kind in given}
            found |= made.get(True, set()) - made.get(False, set())
        return found


def _generalized(at: str) -> str:
    """A part of a path, with any element in place of one that a variable names: ``loaders[phase]``."""
    is_variable = at.startswith("[") and at[1:2] not in ("'", '"') and not at[1:-1].lstrip("-").isdigit()
    return ANY if is_variable else at
