"""Data loaders of a file: their arguments, and the loops they feed, in this file or in another."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from tpulint.semantic.batches.batch_loops import batches_of, gone_through
from tpulint.semantic.batches.derived_loaders import chosen_loaders, derived_loaders
from tpulint.semantic.batches.fed_parameters import ANY, sources_of
from tpulint.semantic.batches.loader_sources import LoaderSources
from tpulint.semantic.batches.sample_counts import SampleCounts
from tpulint.semantic.project.named_dicts import dicts_named
from tpulint.semantic.project.outside import EVALUATION, STEP, qualified_in_file
from tpulint.semantic.syntax.nodes import LOOPS
from tpulint.semantic.values.contained_objects import ContainedObjects
from tpulint.semantic.values.entries import elements_of_loop, entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.loops.regions import StepLoop
    from tpulint.semantic.syntax.nodes import FunctionNode, LoopNode
    from tpulint.semantic.values.creations import Creation

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
_TRAINING = "train"
"""How the names of phases begin that train."""


class Loader:
    """One ``DataLoader(...)``, or an object of a class of the project that is one."""

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
        self._contained = ContainedObjects(index)
        self.sources = LoaderSources(index, self._contained)
        """What its loops have from other files, and loops of others from it."""
        self.counts = SampleCounts(index)
        made = (*index.calls_to(LOADER), *chosen_loaders(index))
        self._loaders = {call: Loader(call, self._arguments(call)) for call in made}
        for call, handed in derived_loaders(index):
            self._loaders[call] = Loader(call, self._index.call_arguments.of(handed, _PARAMETERS))
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
        for listed in index.regions.listed_evaluations:
            for call in self.behind([listed.generators[0].iter]):
                if call in self._loaders:
                    self._loaders[call].feeds_evaluation = True
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
        named = self._with_named(call, handed_on) if len(handed_on) == 1 else None
        if named is not None:
            return named
        function = index.function_of(call)
        kwargs = function.args.kwarg if function is not None else None
        if function is None or kwargs is None or len(handed_on) != 1 or index.text(handed_on[0]) != kwargs.arg:
            return found
        name = qualified_in_file(index.tree, function)
        here = index.definitions.calls_of(function)
        calls = [index.call_arguments.names(one) for one in here]
        calls += [one.keywords for one in index.outside if one.function == name and (one.fed or one.fed_evaluation)]
        if not calls or any(_DECIDING.intersection(keywords) for keywords in calls):
            return None
        shown = [keyword for keyword in call.keywords if keyword.arg is not None]
        known = index.call_arguments.of(ast.Call(call.func, call.args, shown), _PARAMETERS)
        if known is not None and len(calls) == len(here) and all("batch_size" in keywords for keywords in calls):
            arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
            own = {*known, *(argument.arg for argument in arguments)}  # all else goes through to the loader
            for keyword in (item for one in here for item in one.keywords):
                if keyword.arg in _PARAMETERS and keyword.arg not in own:
                    known.setdefault(keyword.arg, []).append(keyword.value)
        return known

    def _with_named(self, call: ast.Call, handed_on: list[ast.expr]) -> dict[str, list[ast.expr]] | None:
        """What a loader is given beside a dictionary that the project keeps under a name, ``**args.loader_args``.

        Each of those that it may be has to say how long a batch is, if nothing else does.
        """
        dicts = dicts_named(self._index, handed_on[0])
        shown = [keyword for keyword in call.keywords if keyword.arg is not None]
        found = self._index.call_arguments.of(ast.Call(call.func, call.args, shown), _PARAMETERS)
        if dicts is None or found is None:
            return None
        if "batch_size" not in found and not all(map(_has_batches, dicts)):
            return None
        for name, value in (item for one in dicts for item in one.items()):
            found.setdefault(name, []).append(value)
        return found

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
    def handed_collating(self) -> list[tuple[ast.expr, str]]:
        """What makes batches and goes to those that make loaders, with what the turns are called that take these."""
        from tpulint.semantic.batches.handed_collating import handed_collating

        return list(handed_collating(self._index))

    def _feed_elsewhere(self) -> None:
        """Note the loaders that loops of other files, or of Lightning, take their batches from."""
        for value, turn in self.sources.of_lightning:
            for call in self.behind([value]):
                if call in self._loaders:
                    self._loaders[call].feeds |= turn == STEP
                    self._loaders[call].feeds_evaluation |= turn == EVALUATION
        handed = [(one.item, one.path, turn) for one in self.sources.handed_over for turn in one.turns]
        for node, path, turn in (*handed, *self.sources.asked_for):
            if turn == STEP and path[-1:] == (ANY,):
                for creation in self._contained.of(node, path[:-1]):
                    self._feed_phases_of(creation)
            for loader in self._in(node, path):
                loader.feeds |= turn == STEP
                loader.feeds_evaluation |= turn == EVALUATION

    def _in(self, node: ast.expr, path: tuple[str, ...]) -> Iterator[Loader]:
        """The loaders that an expression gives, or a part of what it gives."""
        made = (
            self.behind([node], path)
            if path or batches_of(node)
            else (one.node for one in self._contained.of(node) if not one.path)
        )
        yield from (self._loaders[call] for call in made if isinstance(call, ast.Call) and call in self._loaders)

    # ---------------------------------------------------------------- what feeds a loop

    def _evaluated_by(self, loop: StepLoop) -> set[ast.Call]:
        """Loaders that only those calls give to the function of a step loop which train nothing: ``train=False``.

        Or that it goes through only where it trains nothing: ``loader = train_loader if train else test_loader``.
        """
        from tpulint.semantic.functions.ruled_out import given_by_purpose, sources_by_purpose

        found: set[ast.Call] = set()
        for items_of in (given_by_purpose(self._index, loop), sources_by_purpose(self._index, loop)):
            made = {evaluates: self._loaders.keys() & set(self.behind(items)) for evaluates, items in items_of.items()}
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

    def behind(self, sources: list[ast.expr], path: tuple[str, ...] = ()) -> Iterator[ast.Call]:
        """What makes the objects that these expressions give, through enumerate(), tqdm(), iter() and the like.

        With a path the part of them that it leads to.
        """
        seen: set[ast.AST] = set()
        reached: dict[tuple[ast.expr, tuple[str, ...]], int] = {}
        waiting = [(source, path, 0) for source in sources]
        while waiting:
            source, part, depth = waiting.pop()
            if reached.get((source, part), _DEPTH + 1) <= depth:
                continue  # a function that calls itself leads to itself, each time by all of its ways
            reached[source, part] = depth
            for creation in self._contained.of(source, part):
                node = creation.node
                waiting.extend((item, at, depth + 1) for item, at in elements_of_loop(self._index, creation))
                changed = None if creation.path else batches_of(node)
                if changed is not None:
                    waiting.append((changed, (), depth + 1))
                if node in seen or not isinstance(node, ast.Call):
                    continue
                if node in self._loaders:
                    if not creation.path:  # no `loader.dataset`
                        seen.add(node)
                        yield node
                    continue
                seen.add(node)
                yield node
                through = [*self._drawn_from(node), *(_handed_back(node, creation.path) if creation.path else ())]
                through += [] if creation.path else gone_through(node)
                plain = (item for item in through if not isinstance(item, ast.Starred | ast.Constant))
                waiting.extend((item, (), depth + 1) for item in plain)

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


def _has_batches(entries: dict[str, ast.expr]) -> bool:
    size = entries.get("batch_size")
    return size is not None and not (isinstance(size, ast.Constant) and size.value in (None, 1))


def _handed_back(call: ast.Call, path: tuple[str, ...]) -> list[ast.expr]:
    """The argument that comes back at a place of what ``accelerator.prepare(...)`` and its like return."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method not in ("prepare", "setup", "setup_dataloaders") or not path[0].isdecimal():
        return []
    return call.args[int(path[0]) : int(path[0]) + 1]
