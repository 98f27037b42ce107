"""The semantic index: what rules may ask about one file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tpulint.model import Span
from tpulint.semantic.definitions import Definitions
from tpulint.semantic.flow import Flow
from tpulint.semantic.guards import Guards
from tpulint.semantic.kinds import Kind, Kinds, Side, Value
from tpulint.semantic.names import Binding, Names, Scope
from tpulint.semantic.reads import How, Read, Reads, Use
from tpulint.semantic.regions import Pace, Regions, Step, StepFunction, StepLoop
from tpulint.semantic.tree import FUNCTIONS, LOOPS, FunctionNode, LoopNode, SyntaxTree
from tpulint.source import SourceFile

if TYPE_CHECKING:
    from tpulint.semantic.batched_reads import BatchedReads
    from tpulint.semantic.callers import Callers
    from tpulint.semantic.changing_numbers import ChangingNumbers
    from tpulint.semantic.counters import Counters
    from tpulint.semantic.deferrals import Deferrals
    from tpulint.semantic.device_counts import DeviceCounts
    from tpulint.semantic.devices import Devices
    from tpulint.semantic.filled_lists import FilledLists
    from tpulint.semantic.held_values import HeldValues
    from tpulint.semantic.host_arrays import HostArithmetic
    from tpulint.semantic.launches import Launches
    from tpulint.semantic.loaders import Loaders
    from tpulint.semantic.masks import Masks
    from tpulint.semantic.meters import Meters
    from tpulint.semantic.mixed_precision import MixedPrecision
    from tpulint.semantic.module_body import ModuleBody
    from tpulint.semantic.moves import Moves
    from tpulint.semantic.parent_process import ParentProcess
    from tpulint.semantic.process_groups import ProcessGroups
    from tpulint.semantic.ranks import Ranks
    from tpulint.semantic.returned_values import ReturnedValues
    from tpulint.semantic.scalars import Scalars
    from tpulint.semantic.tensor_types import TensorTypes
    from tpulint.semantic.totals import Totals
    from tpulint.semantic.turn_code import TurnCode
    from tpulint.semantic.turns import Turns
    from tpulint.semantic.xla_devices import XlaDevices

__all__ = [
    "FUNCTIONS", "LOOPS", "Binding", "FunctionNode", "How", "Kind", "LoopNode", "Pace", "Read", "Scope",
    "SemanticIndex", "Side", "Step", "StepFunction", "StepLoop", "Use", "Value",
]  # fmt: skip


class SemanticIndex:
    """Everything known about one file. Built once; what is expensive is worked out on first use.

    Raises what ``compile`` raises on text that is not Python.
    """

    def __init__(self, source: SourceFile, module: ast.Module) -> None:
        self.source = source
        self._mentions: dict[str, bool] = {}
        self.tree = SyntaxTree(source, module)
        self._names: Names | None = None
        self._flow: Flow | None = None
        self._definitions: Definitions | None = None
        self._kinds: Kinds | None = None
        self._regions: Regions | None = None
        self._launches: Launches | None = None
        self._process_groups: ProcessGroups | None = None
        self._ranks: Ranks | None = None
        self._device_counts: DeviceCounts | None = None
        self._devices: Devices | None = None
        self._parent_process: ParentProcess | None = None
        self._xla_devices: XlaDevices | None = None
        self._tensor_types: TensorTypes | None = None
        self._mixed_precision: MixedPrecision | None = None
        self._moves: Moves | None = None
        self._loaders: Loaders | None = None
        self._module_body: ModuleBody | None = None
        self._references: list[tuple[ast.expr, str]] | None = None
        self._references_under: dict[tuple[str, ...], list[tuple[ast.expr, str]]] = {}
        self._method_calls: dict[str, list[tuple[int, ast.Call]]] | None = None
        self._reads: Reads | None = None
        self._turns: Turns | None = None
        self._totals: Totals | None = None
        self._scalars: Scalars | None = None
        self._returned_values: ReturnedValues | None = None
        self._meters: Meters | None = None
        self._counters: Counters | None = None
        self._deferrals: Deferrals | None = None
        self._batched_reads: BatchedReads | None = None
        self._filled_lists: FilledLists | None = None
        self._held_values: HeldValues | None = None
        self._host_arithmetic: HostArithmetic | None = None
        self._guards: Guards | None = None
        self._callers: Callers | None = None
        self._turn_code: TurnCode | None = None
        self._masks: Masks | None = None
        self._changing_numbers: ChangingNumbers | None = None

    @property
    def names(self) -> Names:
        """Scopes, bindings, qualified names."""
        if self._names is None:
            self._names = Names(self.tree)
        return self._names

    @property
    def flow(self) -> Flow:
        """Reaching definitions."""
        if self._flow is None:
            self._flow = Flow(self.tree, self.names)
        return self._flow

    @property
    def definitions(self) -> Definitions:
        """Functions and classes of the file, and who calls them."""
        if self._definitions is None:
            self._definitions = Definitions(self.tree, self.names, self.flow)
        return self._definitions

    @property
    def kinds(self) -> Kinds:
        """Kinds and sides of values."""
        if self._kinds is None:
            self._kinds = Kinds(self.tree, self.names, self.flow, self.definitions)
        return self._kinds

    @property
    def regions(self) -> Regions:
        """Step loops, evaluation loops, pace of a line."""
        if self._regions is None:
            self._regions = Regions(self.tree, self.names, self.kinds, self.definitions)
        return self._regions

    @property
    def reads(self) -> Reads:
        """Host reads: values fetched from the device."""
        if self._reads is None:
            self._reads = Reads(self.tree, self.names, self.kinds)
        return self._reads

    @property
    def turns(self) -> Turns:
        """What the statements of loop bodies do, and where a step boundary belongs."""
        if self._turns is None:
            from tpulint.semantic.turns import Turns

            self._turns = Turns(self.tree, self.names, self.kinds, self.definitions, self.regions, self.reads)
        return self._turns

    @property
    def deferrals(self) -> Deferrals:
        """Reads and the step boundary: what stands behind it, what can be moved there."""
        if self._deferrals is None:
            from tpulint.semantic.deferrals import Deferrals

            self._deferrals = Deferrals(self)
        return self._deferrals

    @property
    def batched_reads(self) -> BatchedReads:
        """Reads of one turn that one transfer can serve."""
        if self._batched_reads is None:
            from tpulint.semantic.batched_reads import BatchedReads

            self._batched_reads = BatchedReads(self)
        return self._batched_reads

    @property
    def filled_lists(self) -> FilledLists:
        """Lists of numbers read from the device."""
        if self._filled_lists is None:
            from tpulint.semantic.filled_lists import FilledLists

            self._filled_lists = FilledLists(self)
        return self._filled_lists

    @property
    def held_values(self) -> HeldValues:
        """Numbers read early in a turn and needed late."""
        if self._held_values is None:
            from tpulint.semantic.held_values import HeldValues

            self._held_values = HeldValues(self)
        return self._held_values

    @property
    def turn_code(self) -> TurnCode:
        """Code that runs in every turn of a step or evaluation loop."""
        if self._turn_code is None:
            from tpulint.semantic.turn_code import TurnCode

            self._turn_code = TurnCode(self)
        return self._turn_code

    @property
    def masks(self) -> Masks:
        """Boolean tensors, and shapes that are known to be equal."""
        if self._masks is None:
            from tpulint.semantic.masks import Masks

            self._masks = Masks(self)
        return self._masks

    @property
    def changing_numbers(self) -> ChangingNumbers:
        """Numbers of the host that differ from turn to turn."""
        if self._changing_numbers is None:
            from tpulint.semantic.changing_numbers import ChangingNumbers

            self._changing_numbers = ChangingNumbers(self)
        return self._changing_numbers

    @property
    def host_arithmetic(self) -> HostArithmetic:
        """NumPy arithmetic on copies of device tensors."""
        if self._host_arithmetic is None:
            from tpulint.semantic.host_arrays import HostArithmetic

            self._host_arithmetic = HostArithmetic(self)
        return self._host_arithmetic

    @property
    def scalars(self) -> Scalars:
        """Single numbers on the device."""
        if self._scalars is None:
            from tpulint.semantic.scalars import Scalars

            self._scalars = Scalars(self)
        return self._scalars

    @property
    def counters(self) -> Counters:
        """Variables that count the turns of loops."""
        if self._counters is None:
            from tpulint.semantic.counters import Counters

            self._counters = Counters(self.tree, self.names, self.flow)
        return self._counters

    @property
    def meters(self) -> Meters:
        """Objects that keep sums of what they are given."""
        if self._meters is None:
            from tpulint.semantic.meters import Meters

            self._meters = Meters(self)
        return self._meters

    @property
    def returned_values(self) -> ReturnedValues:
        """Numbers that functions called in every step read and return."""
        if self._returned_values is None:
            from tpulint.semantic.returned_values import ReturnedValues

            self._returned_values = ReturnedValues(self)
        return self._returned_values

    @property
    def totals(self) -> Totals:
        """Running totals kept on the host."""
        if self._totals is None:
            from tpulint.semantic.totals import Totals

            self._totals = Totals(self)
        return self._totals

    @property
    def launches(self) -> Launches:
        """Processes the file starts; false when there are none."""
        if self._launches is None:
            from tpulint.semantic.launches import Launches

            self._launches = Launches(self.tree, self.names, self.definitions)
        return self._launches

    @property
    def process_groups(self) -> ProcessGroups:
        """Process groups the file joins."""
        if self._process_groups is None:
            from tpulint.semantic.process_groups import ProcessGroups

            self._process_groups = ProcessGroups(self)
        return self._process_groups

    @property
    def ranks(self) -> Ranks:
        """Expressions that depend on the rank of the process."""
        if self._ranks is None:
            from tpulint.semantic.ranks import Ranks

            self._ranks = Ranks(self)
        return self._ranks

    @property
    def device_counts(self) -> DeviceCounts:
        """Expressions that hold the number of GPUs."""
        if self._device_counts is None:
            from tpulint.semantic.device_counts import DeviceCounts

            self._device_counts = DeviceCounts(self.tree, self.names, self.flow, self.definitions)
        return self._device_counts

    @property
    def mixed_precision(self) -> MixedPrecision:
        """Autocast contexts and gradient scalers."""
        if self._mixed_precision is None:
            from tpulint.semantic.mixed_precision import MixedPrecision

            self._mixed_precision = MixedPrecision(self.tree, self.names, self.definitions)
        return self._mixed_precision

    @property
    def loaders(self) -> Loaders:
        """Data loaders, and the loops they feed."""
        if self._loaders is None:
            from tpulint.semantic.loaders import Loaders

            self._loaders = Loaders(self)
        return self._loaders

    @property
    def guards(self) -> Guards:
        """Branches kept for one backend."""
        if self._guards is None:
            self._guards = Guards(self.tree, self.names)
        return self._guards

    @property
    def callers(self) -> Callers:
        """What a file of definitions alone leaves to those who use it."""
        if self._callers is None:
            from tpulint.semantic.callers import Callers

            self._callers = Callers(self)
        return self._callers

    @property
    def moves(self) -> Moves:
        """Modules moved to the device, and what happens before."""
        if self._moves is None:
            from tpulint.semantic.moves import Moves

            self._moves = Moves(self.tree, self.names, self.flow, self.definitions, self.kinds)
        return self._moves

    @property
    def devices(self) -> Devices:
        """Places that name, ask for or acquire a device."""
        if self._devices is None:
            from tpulint.semantic.devices import Devices

            self._devices = Devices(self)
        return self._devices

    @property
    def xla_devices(self) -> XlaDevices:
        """Variables that hold the XLA device."""
        if self._xla_devices is None:
            from tpulint.semantic.xla_devices import XlaDevices

            self._xla_devices = XlaDevices(self)
        return self._xla_devices

    @property
    def tensor_types(self) -> TensorTypes:
        """Uses of CUDA's tensor classes."""
        if self._tensor_types is None:
            from tpulint.semantic.tensor_types import TensorTypes

            self._tensor_types = TensorTypes(self)
        return self._tensor_types

    @property
    def parent_process(self) -> ParentProcess:
        """Code that runs before processes are started; false when none are."""
        if self._parent_process is None:
            from tpulint.semantic.parent_process import ParentProcess

            self._parent_process = ParentProcess(self.tree, self.names, self.definitions)
        return self._parent_process

    @property
    def module_body(self) -> ModuleBody:
        """The module's own statements."""
        if self._module_body is None:
            from tpulint.semantic.module_body import ModuleBody

            self._module_body = ModuleBody(self)
        return self._module_body

    def release(self) -> None:
        """Let go of everything. The parts know the index, and such a circle would live until the next collection."""
        self.__dict__.clear()

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
        first, last = self.source.row(span.start), self.source.row(max(span.start, span.end - 1))
        suite: list[ast.stmt] = self.tree.module.body
        found: ast.stmt | None = None
        while suite:
            holder = next((s for s in suite if s.lineno <= first <= (s.end_lineno or s.lineno)), None)
            if holder is None:
                break
            found = holder
            suite = []
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                for item in getattr(holder, field, None) or ():
                    inner = item if isinstance(item, ast.stmt) else None
                    if inner is None:  # an except handler or a match case: its body holds the statements
                        suite.extend(item.body)
                    else:
                        suite.append(inner)
        if found is None:
            return first, last
        body = getattr(found, "body", None)
        if not isinstance(body, list):
            return found.lineno, found.end_lineno or last
        header_end = max(found.lineno, body[0].lineno - 1) if body else last
        return (found.lineno, header_end) if first <= header_end else (first, last)

    # ---------------------------------------------------------------- names

    def qualified_name(self, node: ast.AST) -> str | None:
        """Dotted name of what an expression refers to, through imports and aliases; None when unknown."""
        return self.names.qualified(node)

    def references(self, *prefixes: str) -> Iterator[tuple[ast.expr, str]]:
        """Outermost dotted names that are one of the prefixes or lie under it, with their qualified names.

        Names in import statements are not references.
        """
        if self._references is None:
            self._references = list(self._all_references())
        found = self._references_under.get(prefixes)
        if found is None:
            below = tuple(prefix + "." for prefix in prefixes)
            found = [item for item in self._references if item[1] in prefixes or item[1].startswith(below)]
            self._references_under[prefixes] = found
        yield from found

    def _all_references(self) -> Iterator[tuple[ast.expr, str]]:
        parents, names = self.tree.parents, self.names
        for root in self.tree.names:
            if root.id not in names.nameable or not isinstance(root.ctx, ast.Load):
                continue
            node: ast.expr = root
            name = names.qualified(root)
            while name is not None:
                parent = parents.get(node)
                longer = names.qualified(parent) if isinstance(parent, ast.Attribute) else None
                if longer is None:
                    yield node, name
                    break
                assert isinstance(parent, ast.Attribute)
                node, name = parent, longer

    def calls_to(self, *names: str) -> Iterator[ast.Call]:
        """Calls whose callee is one of these qualified names."""
        for call in self.tree.calls:
            if self.names.qualified(call.func) in names:
                yield call

    def method_calls(self, *methods: str) -> Iterator[tuple[ast.Call, ast.expr]]:
        """Calls ``receiver.method(...)``, with the receiver; calls of qualified names are not among them."""
        if self._method_calls is None:
            self._method_calls = {}
            for at, call in enumerate(self.tree.calls):
                if isinstance(call.func, ast.Attribute):
                    self._method_calls.setdefault(call.func.attr, []).append((at, call))
        # The places in the list of all calls keep the order where several methods are asked for.
        asked = dict.fromkeys(methods)
        found = [item for method in asked for item in self._method_calls.get(method, ())]
        if len(asked) > 1:
            found.sort(key=lambda item: item[0])
        for _, call in found:
            func = call.func
            if isinstance(func, ast.Attribute) and self.names.qualified(func) is None:
                yield call, func.value

    # ---------------------------------------------------------------- values and places

    def value(self, node: ast.expr) -> Value:
        """What is known about an expression: kind, side, certainty."""
        return self.kinds.value(node)

    def kind(self, node: ast.expr) -> Kind:
        """What an expression is."""
        return self.kinds.value(node).kind

    def is_device_tensor(self, node: ast.expr) -> bool:
        """Whether an expression is a tensor on the device, as far as is known."""
        value = self.kinds.value(node)
        return value.kind is Kind.TENSOR and value.side is Side.DEVICE

    @property
    def step_loops(self) -> list[StepLoop]:
        """All step loops of the file."""
        return self.regions.step_loops

    @property
    def steps(self) -> list[Step]:
        """All step loops, and functions that train one step for a loop in another file."""
        return [*self.regions.step_loops, *self.regions.step_functions]

    def step_loop_of(self, node: ast.AST) -> Step | None:
        """The step loop in whose turns the node runs, directly or through a called function."""
        return self.regions.step_loop_of(node)

    def pace_of(self, node: ast.AST) -> Pace:
        """How often the node runs."""
        return self.regions.pace_of(node)

    @property
    def is_program(self) -> bool:
        """Whether the file trains, or does something when it is run; a file of definitions alone serves others."""
        return self.callers.is_program

    def cuda_only_spans(self) -> list[Span]:
        """Branches that run on CUDA only, in a file that knows another backend too: what stands there is right."""
        return self.guards.cuda_only()

    def mentions(self, pattern: str) -> bool:
        """Whether a regular expression occurs anywhere in the text: a cheap first question."""
        found = self._mentions.get(pattern)
        if found is None:
            found = self._mentions[pattern] = re.search(pattern, self.source.text) is not None
        return found
