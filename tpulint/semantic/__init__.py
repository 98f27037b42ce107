"""The semantic index: what rules may ask about one file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from tpulint.model import Span
from tpulint.semantic.cuda.guards import Guards
from tpulint.semantic.functions.default_flags import DefaultFlags
from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.loops.events import EventMap
from tpulint.semantic.loops.regions import CalledStep, Pace, Regions, Step, StepFunction, StepLoop, may_have_turns
from tpulint.semantic.project.imported import Imported
from tpulint.semantic.project.other_files import Library
from tpulint.semantic.project.outside import EVALUATION, STEP, OutgoingCall, OutsideCall
from tpulint.semantic.reads.reads import How, Read, Reads, Use
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, LOOPS, FunctionNode, LoopNode
from tpulint.semantic.syntax.scopes import Scope
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.uses import Uses
from tpulint.semantic.topics import Topics
from tpulint.semantic.values.kinds import Kind, Kinds, Side, Value
from tpulint.source import SourceFile

__all__ = [
    "FUNCTIONS", "LOOPS", "Binding", "CalledStep", "FunctionNode", "How", "Kind", "LoopNode", "Pace", "Read", "Scope",
    "SemanticIndex", "Side", "Step", "StepFunction", "StepLoop", "Use", "Value",
]  # fmt: skip


_OF_OTHERS = ("source", "_library")
"""What an index only holds, and does not let go of when it is done."""
_OF_THE_TEXT = ("source", "tree", "names", "flow", "uses", "_mentions")
"""What follows from the text of a file alone."""
_OF_THE_FILE = (
    *_OF_THE_TEXT, "imported", "definitions", "guards", "counters", "launches", "parent_process", "device_counts",
    "mixed_precision",
)  # fmt: skip
"""What no call in another file changes."""
_OF_OBJECTS = ("imported", "definitions")
"""Of that, what does change where a call in another file hands over an object of a known class, or options."""
_IMPORTS_TORCH = r"(?m)^\s*(?:import|from)\s[^\n#]*\btorch\b"


class SemanticIndex(Topics):
    """Everything known about one file. Built once; what is expensive is worked out on first use.

    Raises what ``compile`` raises on text that is not Python.
    """

    language = "python"

    def __init__(
        self,
        source: SourceFile,
        module: ast.Module,
        library: Library | None = None,
        outside: Sequence[OutsideCall] = (),
    ) -> None:
        self.source = source
        self._library = library
        self.outside = outside
        """Calls that other files make of the functions of this one."""
        self.is_shared = False
        """Whether others may ask the index as well: who lent it lets go of it."""
        self._borrowed: frozenset[str] = frozenset()
        """What belongs to another index of the same file."""
        self.tree = SyntaxTree(source, module)
        self._mentions: dict[str, bool] = {}

    @cached_property
    def names(self) -> Names:
        """Scopes, bindings, qualified names."""
        return Names(self.tree, self._named_by_star)

    def _named_by_star(self, name: str) -> str | None:
        from tpulint.semantic.project.starred_names import starred_name

        return starred_name(self, self._library, name)

    @cached_property
    def uses(self) -> Uses:
        """References and calls by what they are called."""
        return Uses(self.tree, self.names)

    @cached_property
    def flow(self) -> Flow:
        """Reaching definitions."""
        return Flow(self.tree, self.names)

    @cached_property
    def definitions(self) -> Definitions:
        """Functions and classes of the file, and who calls them."""
        return Definitions(self.tree, self.names, self.flow, self.imported, self.outside)

    @cached_property
    def imported(self) -> Imported:
        """Definitions of other files of the project."""
        # Definitions know what is imported: they are asked for later.
        return Imported(
            self.tree,
            self.names,
            self.flow,
            self._library,
            lambda *wanted: self.definitions.arguments.of(*wanted),
            lambda function: self.definitions.returned_by(function),
            self.outside,
        )

    @cached_property
    def kinds(self) -> Kinds:
        """Kinds and sides of values."""
        return Kinds(self.tree, self.names, self.flow, self.definitions, self.imported, self.flags, self.outside)

    @cached_property
    def regions(self) -> Regions:
        """Step loops, evaluation loops, pace of a line."""
        return Regions(
            self.tree, self.names, self.flow, self.kinds, self.definitions, self.imported, self.flags, self.outside
        )

    @cached_property
    def flags(self) -> DefaultFlags:
        """Branches for flags that no call sets."""
        return DefaultFlags(self.tree, self.names, self.definitions, self.outside)

    @cached_property
    def own_events(self) -> EventMap:
        """Backward passes, updates and boundaries that stand in this file: what others ask that call it."""
        return EventMap(self.tree, self.names, self.kinds, self.definitions)

    @cached_property
    def reads(self) -> Reads:
        """Host reads: values fetched from the device."""
        return Reads(
            self.tree,
            self.names,
            self.flow,
            self.kinds,
            self.flags,
            lambda node: self.dimensions.of(node),
            lambda node: self.moved_tensors.has(node),
            self._is_only_kept,
        )

    def _is_only_kept(self, call: ast.Call) -> bool:
        from tpulint.semantic.reads.shown_values import is_only_kept

        return is_only_kept(self, call)

    @cached_property
    def guards(self) -> Guards:
        """Branches kept for one backend."""
        return Guards(self.tree, self.names)

    @cached_property
    def outgoing_calls(self) -> tuple[OutgoingCall, ...]:
        """Calls of functions in other files of the project, made in every turn of a loop."""
        if not self.imported.knows_others:
            return ()
        from tpulint.semantic.project.outgoing import outgoing_calls

        return outgoing_calls(self)

    @cached_property
    def calls_of_bases(self) -> tuple[OutsideCall, ...]:
        """Calls that base classes of other files make of methods of this one, in every turn of a loop."""
        from tpulint.semantic.project.base_calls import calls_of_bases

        return calls_of_bases(self)

    def called_so(self, library: Library | None, outside: Sequence[OutsideCall]) -> SemanticIndex:
        """The same file, where these calls of others are known; what does not depend on them is not done anew."""
        if library is self._library and tuple(outside) == tuple(self.outside):
            return self
        other = SemanticIndex.__new__(SemanticIndex)
        lent: tuple[str, ...] = _OF_THE_FILE if library is self._library else _OF_THE_TEXT
        if any(call.classes or call.options for call in outside):
            lent = tuple(name for name in lent if name not in _OF_OBJECTS)
        other.__dict__.update((name, part) for name, part in self.__dict__.items() if name in lent)
        other._borrowed = frozenset(other.__dict__)
        other._library, other.outside, other.is_shared = library, outside, False
        return other

    def release(self) -> None:
        """Let go of everything. The parts know the index and each other: circles that would live until a collection.

        An index that is shared stays as it is.
        """
        if self.is_shared:
            return
        if "names" in self.__dict__ and "names" not in self._borrowed:
            self.names.release()
        stay = (*_OF_OTHERS, *self._borrowed)
        parts = dict(self.__dict__)
        self.__dict__.clear()
        for name, held in parts.items():
            if name not in stay and hasattr(held, "__dict__"):
                held.__dict__.clear()

    # ---------------------------------------------------------------- structure

    @property
    def calls(self) -> list[ast.Call]:
        """All calls, in order of position."""
        return self.tree.calls

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that holds this one."""
        return self.tree.parent(node)

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds the node."""
        return self.tree.statement_of(node)

    def function_of(self, node: ast.AST) -> FunctionNode | None:
        """The innermost function around the node."""
        return self.tree.function_of(node)

    def span(self, node: ast.AST) -> Span:
        """Where the node stands."""
        return self.tree.span(node)

    def text(self, node: ast.AST) -> str:
        """Source text of the node."""
        return self.tree.text(node)

    def statement_rows(self, span: Span) -> tuple[int, int]:
        """First and last row of the statement that holds a span; of a compound statement only its header."""
        return self.tree.statement_rows(span)

    # ---------------------------------------------------------------- names

    def qualified_name(self, node: ast.AST) -> str | None:
        """Dotted name of what an expression refers to, through imports and aliases; None when unknown."""
        return self.names.qualified(node)

    def references(self, *prefixes: str) -> Iterator[tuple[ast.expr, str]]:
        """Outermost dotted names that are one of the prefixes or lie under it, with their qualified names.

        Names in import statements are not references.
        """
        return iter(self.uses.references(prefixes))

    def calls_to(self, *names: str) -> Iterator[ast.Call]:
        """Calls whose callee is one of these qualified names."""
        return iter(self.names.calls_to(*names))

    def method_calls(self, *methods: str) -> Iterator[tuple[ast.Call, ast.expr]]:
        """Calls ``receiver.method(...)``, with the receiver; calls of qualified names are not among them."""
        return self.uses.method_calls(methods)

    # ---------------------------------------------------------------- values and places

    def value(self, node: ast.expr) -> Value:
        """What is known about an expression: kind, side, certainty."""
        return self.kinds.value(node)

    def kind(self, node: ast.expr) -> Kind:
        """What an expression is."""
        return self.kinds.value(node).kind

    def members_of(self, node: ast.expr) -> list[ast.expr]:
        """What an expression may be: an element of a list by what is put into it, else the expression itself."""
        return self.kinds.contents.members_of(node)

    def is_device_tensor(self, node: ast.expr) -> bool:
        """Whether an expression is a tensor on the device, as far as is known."""
        return self.kinds.is_on_device(node)

    @property
    def step_loops(self) -> list[StepLoop]:
        """All step loops of the file."""
        return self.regions.step_loops

    @property
    def has_turn_loops(self) -> bool:
        """Whether the file has step loops or evaluation loops, comprehensions among them."""
        may_have = may_have_turns(self.source, self.outside)
        return may_have and bool(self.regions.turn_loops or self.regions.listed_evaluations)

    @property
    def steps(self) -> list[Step]:
        """All step loops, and functions that train one step for a loop in another file."""
        return [*self.regions.step_loops, *self.regions.step_functions]

    @property
    def steps_called(self) -> list[CalledStep]:
        """Functions that step loops of other files run in every turn, and loops that run a step of another file."""
        return [called for called in self.regions.steps_across_files if called.call.turn == STEP]

    @property
    def evaluations_called(self) -> list[CalledStep]:
        """Functions that evaluation loops of other files run in every turn, and loops that evaluate by their calls."""
        return [called for called in self.regions.steps_across_files if called.call.turn == EVALUATION]

    def step_loop_of(self, node: ast.AST) -> Step | None:
        """The step loop in whose turns the node runs, directly or through a called function."""
        return self.regions.step_loop_of(node)

    def pace_of(self, node: ast.AST) -> Pace | None:
        """How often the node runs in the turns of training and evaluation; None outside. ``paces`` knows the rest."""
        return self.regions.pace_of(node)

    @property
    def is_program(self) -> bool:
        """Whether the file trains, or does something when it is run; a file of definitions alone serves others."""
        return self.callers.is_program

    def cuda_only_spans(self) -> list[Span]:
        """Code that is right as it stands: branches for CUDA in a file that knows another backend, left-out tests, and
        what never runs."""
        from tpulint.semantic.cuda.left_out import left_out

        return [*self.guards.cuda_only(), *left_out(self.tree), *map(self.tree.span, self.tree.never_run)]

    @property
    def imports_torch(self) -> bool:
        """Whether the text imports torch, or something of it, anywhere."""
        return self.mentions(_IMPORTS_TORCH, "torch")

    def mentions(self, pattern: str, *words: str) -> bool:
        """Whether a regular expression occurs anywhere in the text: a cheap first question.

        One of the ``words`` stands in all that it matches: they are looked for first, in a fiftieth of the time.
        """
        found = self._mentions.get(pattern)
        if found is None:
            may_match = not words or self.source.has_any(words)
            found = self._mentions[pattern] = may_match and re.search(pattern, self.source.text) is not None
        return found
