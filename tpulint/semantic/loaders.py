"""Data loaders of a file: their arguments, and the loops they feed, in this file or in another."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from tpulint.semantic.appended import Appended
from tpulint.semantic.batch_loops import gone_through
from tpulint.semantic.drawn_parameters import drawn_by
from tpulint.semantic.entries import elements_of_loop, entries, entries_named
from tpulint.semantic.fed_parameters import fed_elsewhere, sources_of
from tpulint.semantic.left_out_batches import leaves_out_smaller
from tpulint.semantic.outside import EVALUATION, STEP, qualified_in_file
from tpulint.semantic.sample_counts import SampleCounts
from tpulint.semantic.tree import LOOPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.creations import Creation
    from tpulint.semantic.regions import StepLoop
    from tpulint.semantic.tree import FunctionNode, LoopNode

LOADER = "torch.utils.data.DataLoader"
_PARAMETERS = (
    "dataset",
    "batch_size",
    "shuffle",
    "sampler",
    "batch_sampler",
    "num_workers",
    "collate_fn",
    "pin_memory",
    "drop_last",
)
_DECIDING = frozenset({"**", "batch_sampler", "drop_last"})
"""Arguments by which all batches may be of one size."""
_DEPTH = 6
_ANY = "[:]"
"""The part of a dictionary that a variable key stands for: ``loaders[phase]``."""
_TRAINING = "train"
"""How the names of phases begin that train."""


class Loader:
    """One ``DataLoader(...)``."""

    __slots__ = ("arguments", "call", "evaluations", "feeds", "feeds_evaluation", "loops")

    def __init__(self, call: ast.Call, arguments: dict[str, list[ast.expr]] | None) -> None:
        self.call = call
        self.arguments = arguments
        """Values each argument may have, by name, those of ``**`` dictionaries included; None when they are hidden."""
        self.feeds = False
        """Whether a step loop takes its batches from it."""
        self.feeds_evaluation = False
        self.loops: list[LoopNode] = []
        """The step loops that take their batches from it."""
        self.evaluations: list[LoopNode] = []
        """The evaluation loops of this file that do."""


class Loaders:
    """All data loaders of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._appended = Appended(index)
        self.counts = SampleCounts(index)
        self._loaders = {call: Loader(call, self._arguments(call)) for call in index.calls_to(LOADER)}
        if not self._loaders:
            return
        self._feed_elsewhere()
        self._fed_elsewhere = [loader for loader in self.all if loader.feeds or loader.feeds_evaluation]
        for loop in index.step_loops:
            evaluated = self._evaluated_by(loop)
            for call in self.makers_of(loop.node, loop.functions):
                if call in evaluated:
                    self._loaders[call].feeds_evaluation = True
                elif call in self._loaders:
                    self._loaders[call].feeds = True
                    self._loaders[call].loops.append(loop.node)
            self._feed_phases(loop)
        for node in index.regions.evaluation_loops:
            for call in self.makers_of(node):
                if call in self._loaders:
                    self._loaders[call].feeds_evaluation = True
                    self._loaders[call].evaluations.append(node)
        for driver in (*index.regions.drivers.loops.values(), *index.regions.called_steps):
            for call in self.makers_of(driver.node, driver.functions):
                if call in self._loaders:
                    self._loaders[call].feeds |= driver.call.turn == STEP
                    self._loaders[call].feeds_evaluation |= driver.call.turn == EVALUATION
                    if driver.call.turn == EVALUATION and isinstance(driver.node, LOOPS):
                        self._loaders[call].evaluations.append(driver.node)

    def _arguments(self, call: ast.Call) -> dict[str, list[ast.expr]] | None:
        """What a loader is given; of what its function hands on, ``**kwargs``, what the calls of that say."""
        index = self._index
        found = index.call_arguments.of(call, _PARAMETERS)
        handed_on = [keyword.value for keyword in call.keywords if keyword.arg is None] if found is None else []
        function = index.function_of(call)
        kwargs = function.args.kwarg if function is not None else None
        if function is None or kwargs is None or len(handed_on) != 1 or index.text(handed_on[0]) != kwargs.arg:
            return found
        name = qualified_in_file(index.tree, function)
        calls = [index.call_arguments.names(one) for one in index.definitions.calls_of(function)]
        calls += [one.keywords for one in index.outside if one.function == name and (one.fed or one.fed_evaluation)]
        if not calls or any(_DECIDING.intersection(keywords) for keywords in calls):
            return None
        shown = [keyword for keyword in call.keywords if keyword.arg is not None]
        return index.call_arguments.of(ast.Call(call.func, call.args, shown), _PARAMETERS)

    @property
    def all(self) -> list[Loader]:
        """In order of position."""
        return list(self._loaders.values())

    @cached_property
    def of_device(self) -> list[Loader]:
        """Those whose batches may reach a device: a file without a word about one runs its own loops on the host."""
        index = self._index
        if not self._loaders or index.kinds.mentions_device or any(True for _ in index.imported.files()):
            return self.all
        return self._fed_elsewhere

    @cached_property
    def sources_elsewhere(self) -> list[tuple[ast.Call, tuple[str, ...], str]]:
        """Calls of functions in other files that give what loops run over, with the part and the turn of the loop.

        Calls of classes, too, whose objects keep it: the part is the attribute.
        """
        evaluated = self._evaluated_elsewhere()
        found = [
            (*source, EVALUATION if source in evaluated else turn)
            for item, turn in self._sources
            for source in self._sources_of(item, 0)
        ]
        for creation in (one for loop in self._index.step_loops for one in self._dictionaries_of(loop)):
            call = creation.node
            if isinstance(call, ast.Call) and self._index.imported.all_called(call):
                found.append((call, (*creation.path, _ANY), STEP))
        return found

    @cached_property
    def variables_elsewhere(self) -> list[tuple[SemanticIndex, str, str]]:
        """Variables of other files that loops run over, with the turn of the loop: ``mnist.train_loader``."""
        found = []
        for item, turn in self._sources:
            for creation in self._index.moves.creations.of(item):
                if isinstance(creation.node, ast.alias):
                    variable = self._index.imported.variable_imported(creation.node, creation.path)
                    found += [] if variable is None else [(*variable, turn)]
        return found

    @cached_property
    def _sources(self) -> list[tuple[ast.expr, str]]:
        """What loops of this file, and of others that this one calls, run over, with the turn of the loop."""
        index = self._index
        loops = [loop for loop in index.step_loops if not leaves_out_smaller(index, loop.node)]
        items = [(item, STEP) for loop in loops for item in sources_of(index, loop.node, loop.functions)]
        quiet = [node for node in index.regions.evaluation_loops if not leaves_out_smaller(index, node)]
        items += [(item, EVALUATION) for node in quiet for item in sources_of(index, node)]
        drivers = index.regions.drivers.loops.values()
        items += [(item, one.call.turn) for one in drivers for item in sources_of(index, one.node, one.functions)]
        items.extend((item, turn) for item, turns in self._handed_over for turn in sorted(turns))
        for outside in index.outside:  # what loops of other files run over that this one has from a third
            for paths, turn in ((outside.fed, STEP), (outside.fed_evaluation, EVALUATION)):
                given = self._given_by(outside.function) if paths else ()
                items.extend((part, turn) for value in given for path in paths for part in self._at(value, path))
        return items

    def _sources_of(self, node: ast.expr, depth: int) -> Iterator[tuple[ast.Call, tuple[str, ...]]]:
        for creation in self._index.moves.creations.of(node):
            call = creation.node
            if not isinstance(call, ast.Call) or depth > _DEPTH:
                continue
            if self._index.imported.all_called(call):
                yield call, creation.path
                for item in drawn_by(self._index, call) if not creation.path else ():
                    yield from self._sources_of(item, depth + 1)
            elif not creation.path:
                for item in gone_through(call):
                    yield from self._sources_of(item, depth + 1)

    @cached_property
    def _handed_over(self) -> list[tuple[ast.expr, set[str]]]:
        """What calls hand to functions of other files whose loops take their batches from it."""
        index = self._index
        return [given for call in index.imported.calls for given in fed_elsewhere(index, call)]

    def _feed_elsewhere(self) -> None:
        """Note the loaders that loops of other files take their batches from."""
        index = self._index
        for item, turns in self._handed_over:
            for creation in index.moves.creations.of(item):
                if creation.node in self._loaders and isinstance(creation.node, ast.Call):
                    self._loaders[creation.node].feeds |= STEP in turns
                    self._loaders[creation.node].feeds_evaluation |= EVALUATION in turns
        for outside in index.outside:
            for value in self._given_by(outside.function) if outside.fed or outside.fed_evaluation else ():
                whole = [path[:-1] for path in outside.fed if path[-1:] == (_ANY,)]
                for owner in (part for path in whole for part in self._at(value, path)):
                    for creation in index.moves.creations.of(owner):
                        self._feed_phases_of(creation)
                for loader in (found for path in outside.fed for found in self._returned(value, path)):
                    loader.feeds = True
                for loader in (found for path in outside.fed_evaluation for found in self._returned(value, path)):
                    loader.feeds_evaluation = True

    def _given_by(self, name: str) -> list[ast.expr]:
        """What a function returns, objects of a class keep in an attribute, ``Data.loader``, or a variable holds."""
        index = self._index
        functions = index.definitions.named(name)
        if functions:
            return [value for function in functions for value in index.definitions.returned_by(function)]
        owner, _, attribute = name.rpartition(".")
        if not owner:
            made = index.names.bindings_in(index.names.module, name)
            return [one.value for one in made if one.kind == "assign" and not one.path and one.value is not None]
        classes = (node for node in index.tree.classes if node.name == owner)
        kept = [binding for node in classes for binding in index.names.attribute_bindings(node, attribute)]
        return [binding.value for binding in kept if binding.value is not None and not binding.path]

    def _returned(self, value: ast.expr, path: tuple[int | str, ...]) -> Iterator[Loader]:
        """The loaders in a part of what a function returns: at a place, or behind a key of a dictionary."""
        for item in self._at(value, path):
            made = (creation.node for creation in self._index.moves.creations.of(item) if not creation.path)
            for call in made if item is value else self.behind([item]):
                if call in self._loaders and isinstance(call, ast.Call):
                    yield self._loaders[call]

    def _at(self, value: ast.expr, path: tuple[int | str, ...]) -> list[ast.expr]:
        """What stands at a place of a value: in a tuple, or behind a key of a dictionary."""
        values = [value]
        for at in path:
            values = [part for item in values for part in self._parts(item, at)]
        return values

    def _parts(self, value: ast.expr, at: int | str) -> Iterator[ast.expr]:
        if isinstance(at, int):
            if isinstance(value, ast.Tuple | ast.List) and -len(value.elts) <= at < len(value.elts):
                yield value.elts[at]
            return
        for creation in self._index.moves.creations.of(value):
            named = creation._replace(path=(*creation.path, at))
            yield from entries_named(named)
            yield from self._appended.at(named)

    # ---------------------------------------------------------------- what feeds a loop

    def _evaluated_by(self, loop: StepLoop) -> set[ast.Call]:
        """Loaders that only those calls give to the function of a step loop which train nothing: ``train=False``."""
        from tpulint.semantic.ruled_out import given_by_purpose

        given = given_by_purpose(self._index, loop) if self._loaders else {}
        made = {evaluates: self._loaders.keys() & set(self.behind(items)) for evaluates, items in given.items()}
        return made.get(True, set()) - made.get(False, set())

    def _evaluated_elsewhere(self) -> set[tuple[ast.Call, tuple[str, ...]]]:
        """The same of what other files give: ``train, test = get_loaders()``, and ``run(model, test, None)``."""
        from tpulint.semantic.ruled_out import given_by_purpose

        found: set[tuple[ast.Call, tuple[str, ...]]] = set()
        for loop in self._index.step_loops if self._index.imported.knows_others else ():
            given = given_by_purpose(self._index, loop)
            made = {kind: {one for item in given[kind] for one in self._sources_of(item, 0)} for kind in given}
            found |= made.get(True, set()) - made.get(False, set())
        return found

    def _feed_phases(self, loop: StepLoop) -> None:
        """Note the loaders of a loop that trains and evaluates in turns."""
        for owner in self._dictionaries_of(loop):
            self._feed_phases_of(owner, loop)

    def _dictionaries_of(self, loop: StepLoop) -> Iterator[Creation]:
        """What makes the dictionaries of which a loop takes one entry after the other: ``for x in loaders[phase]``."""
        for source in sources_of(self._index, loop.node):
            while isinstance(source, ast.Call) and source.args:
                source = source.args[0]
            if isinstance(source, ast.Subscript) and not isinstance(source.slice, ast.Constant):
                yield from self._index.moves.creations.of(source.value)

    def _feed_phases_of(self, owner: Creation, loop: StepLoop | None = None) -> None:
        """Each loader of a dictionary feeds a phase, told by its name; several phases where no name tells."""
        for key, value in entries(owner.node) if not owner.path else ():
            name = key.value if isinstance(key, ast.Constant) else None
            trains = isinstance(name, str) and name.lower().startswith(_TRAINING)
            for loader in (self._loaders[call] for call in self.behind([value]) if call in self._loaders):
                if trains or not isinstance(name, str):
                    loader.feeds = True
                    loader.loops += [] if loop is None else [loop.node]
                loader.feeds_evaluation |= not trains

    def makers_of(self, loop: LoopNode | FunctionNode, functions: Iterable[FunctionNode] = ()) -> Iterator[ast.Call]:
        """Calls that make what a loop takes its batches from: loaders, and what stands around them."""
        yield from self.behind(sources_of(self._index, loop, functions))

    def behind(self, sources: list[ast.expr]) -> Iterator[ast.Call]:
        """What makes the objects that these expressions give, through enumerate(), tqdm(), iter() and the like."""
        creations = self._index.moves.creations
        seen: set[ast.AST] = set()
        waiting = [(source, 0) for source in sources]
        while waiting:
            source, depth = waiting.pop()
            if depth > _DEPTH:
                continue
            for creation in creations.of(source):
                node = creation.node
                waiting.extend((item, depth + 1) for item in (*entries_named(creation), *self._appended.at(creation)))
                waiting.extend((item, depth + 1) for item in elements_of_loop(self._index, creation))
                if node in seen or not isinstance(node, ast.Call):
                    continue
                seen.add(node)
                yield node
                if node in self._loaders:
                    continue
                waiting.extend((item, depth + 1) for item in self._drawn_from(node))
                if creation.path:
                    waiting.extend((item, depth + 1) for item in _handed_back(node, creation.path))
                else:
                    through = gone_through(node)
                    waiting.extend(
                        (item, depth + 1) for item in through if not isinstance(item, ast.Starred | ast.Constant)
                    )

    def _drawn_from(self, call: ast.Call) -> Iterator[ast.expr]:
        """What a generator of this file takes its batches from: ``while True: for batch in loader: yield batch``.

        An object of a class with such a generator, or with one that goes through another, is one, too.
        """
        tree, definitions = self._index.tree, self._index.definitions
        function = definitions.function_called(call)
        owner = definitions.class_called(call) if function is None else None
        if owner is not None:
            function = definitions.method(owner, "__iter__")
            for value in definitions.returned_by(function) if function is not None else ():
                if isinstance(value, ast.GeneratorExp) and len(value.generators) == 1:
                    yield value.generators[0].iter  # `return (move(batch) for batch in self.loader)`
                elif isinstance(value, ast.Call):
                    yield from value.args  # `return iter(self.loader)`
        if function is None or not self._index.kinds.functions.yields(function):
            return
        for node in tree.inside(function, functions=False):
            if isinstance(node, ast.YieldFrom):
                yield node.value
            elif isinstance(node, ast.Yield) and isinstance(node.value, ast.Call) and node.value.args:
                if self._index.qualified_name(node.value.func) == "builtins.next":
                    yield node.value.args[0]
            elif isinstance(node, ast.Yield):
                loop = tree.loop_of(node)
                if isinstance(loop, ast.For):
                    yield loop.iter


def _handed_back(call: ast.Call, path: tuple[str, ...]) -> list[ast.expr]:
    """The argument that comes back at a place of what ``accelerator.prepare(...)`` and its like return."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method not in ("prepare", "setup", "setup_dataloaders") or not path[0].isdecimal():
        return []
    return call.args[int(path[0]) : int(path[0]) + 1]
