"""What a loop body or function does for a step, itself and through the functions it calls."""

from __future__ import annotations

import ast
from collections.abc import Collection
from functools import cached_property

from tpulint.semantic.functions.definitions import Definitions, is_abstract
from tpulint.semantic.loops.direct_events import DirectEvents, Events
from tpulint.semantic.loops.training_forwards import TrainingForwards
from tpulint.semantic.modules.updates import Updates
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import LOOPS, FunctionNode, LoopNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.kinds import Kinds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.loops.delegated_events import DelegatedEvents

_CALL_DEPTH = 5


class EventMap:
    """The events of a file, by the loop body or function that runs them."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        kinds: Kinds,
        definitions: Definitions,
        delegated: DelegatedEvents | None = None,
        only_boundaries: bool = False,
        left_to_derived: Collection[str] = (),
    ) -> None:
        self._tree = tree
        self._names = names
        self._kinds = kinds
        self._definitions = definitions
        self._updates = Updates(tree, names, kinds, definitions)
        self._called: dict[ast.AST | None, list[FunctionNode]] = {}
        self._summaries: dict[ast.AST, Events] = {}
        self._calls_in: dict[ast.AST | None, list[ast.Call]] | None = None
        direct = DirectEvents(tree, names, kinds, definitions, self._updates, delegated, left_to_derived)
        self._direct = direct
        self._of_holders = direct.of_holders
        self.holder_of = direct.holder_of
        self.in_loaders = direct.in_loaders
        if only_boundaries:
            direct.collect_boundaries()
            return
        direct.collect()
        for loop, events in list(self._of_holders.items()):
            if events.updates and isinstance(loop, LOOPS) and not self._summary(loop, ()).backwards:
                self._note_unseen(loop, events)

    @property
    def have_step(self) -> bool:
        """Whether there is both a backward pass and an update anywhere in the file."""
        return self._direct.have_step

    def of(self, holder: ast.AST) -> Events:
        """Events of a loop body or function, with those of nested loops and called functions."""
        found = self._summaries.get(holder)
        if found is None:
            found = self._summaries[holder] = self._summary(holder, ())
        return found

    def functions_of(self, call: ast.Call) -> list[FunctionNode]:
        """Functions of this file that a call runs: the callee, a closure, ``__init__``, what replaces a bare method.

        Of those of which it runs one, all, where each of them trains. Of a module the forward pass, where that trains.
        """
        run = (
            self._definitions.function_run(call),
            self._updates.closure(call),
            self._definitions.made_by(call),
            self.training_forwards.run_by(call, self._direct.modes),
        )
        found = [function for function in run if function is not None]
        if not found:
            several = self._definitions.functions_of_several(call)
            direct = [self._of_holders.get(function) for function in several]
            return several if direct and all(one and one.backwards and one.updates for one in direct) else []
        abstract = [function for function in found if is_abstract(function)]
        found += filter(None, map(self._definitions.gradient_of, found))
        wrappers = [wrapper for one in found for wrapper in self._definitions.decorations.wrappers_of(one)]
        found += [one for one in wrappers if not self._tree.encloses(one, call)]  # which calls the function itself
        return [*found, *(other for function in abstract for other in self._definitions.overriding(function))]

    def events_in(self, statement: ast.AST) -> Events:
        """Events that running a statement causes, in it or in functions it calls."""
        total = Events()
        holders = {self.holder_of(statement)}
        for node in (statement, *self._tree.inside(statement, functions=False)):
            if isinstance(node, LOOPS):
                holders.add(node)
            elif isinstance(node, ast.Call):
                for function in self.functions_of(node):
                    total.add(self.of(function))
        for holder in holders:
            direct = self._of_holders.get(holder)
            if direct is not None:
                encloses = self._tree.encloses
                total.backwards.extend(item for item in direct.backwards if encloses(statement, item))
                total.updates.extend(item for item in direct.updates if encloses(statement, item))
                total.manual_updates.extend(item for item in direct.manual_updates if encloses(statement, item))
                total.candidates.extend(item for item in direct.candidates if encloses(statement, item))
                total.boundaries.extend(item for item in direct.boundaries if encloses(statement, item))
        return total

    def _summary(self, holder: ast.AST, seen: tuple[ast.AST, ...]) -> Events:
        total = Events()
        if holder in seen or len(seen) > _CALL_DEPTH:
            return total
        seen = (*seen, holder)
        direct = self._of_holders.get(holder)
        if direct is not None:
            total.add(direct)
        for function in self._called_in(holder):
            if function not in seen:
                part = self._summary(function, seen)
                part.functions.insert(0, function)
                total.add(part)
        for loop in self._direct.loops_in.get(holder, ()):
            total.add(self._summary(loop, seen))
        return total

    def _called_in(self, holder: ast.AST) -> list[FunctionNode]:
        """Functions that a loop body or function calls itself."""
        found = self._called.get(holder)
        if found is None:
            if self._calls_in is None:
                self._calls_in = {}
                for call in self._tree.calls:
                    self._calls_in.setdefault(self.holder_of(call), []).append(call)
            calls = self._calls_in.get(holder, ())
            found = self._called[holder] = [function for call in calls for function in self.functions_of(call)]
        return found

    def _note_unseen(self, loop: LoopNode, events: Events) -> None:
        """Note the backward pass of a loop that updates without one in sight: the call of its model runs it."""
        from tpulint.semantic.loops.unseen_backwards import UnseenBackwards

        call = UnseenBackwards(self._tree, self._kinds, self._direct.modes).of(loop, events.updates)
        if call is not None:
            self._direct.at(call).backwards.append(call)

    @cached_property
    def training_forwards(self) -> TrainingForwards:
        """Forward passes of modules of this file that run a backward pass themselves."""
        backwards = [call for one in self._of_holders.values() for call in one.backwards]
        return TrainingForwards(self._tree, self._names, self._definitions, backwards)
