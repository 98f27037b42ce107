"""The topics of the semantic index: which there are, what each answers, and the modules that answer.

Names, kinds, reads and step loops, which nearly all topics are made of, are none: the index makes them itself.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tpulint.semantic.batches.batch_makers import BatchMakers
    from tpulint.semantic.batches.batch_measures import BatchMeasures
    from tpulint.semantic.batches.fed_parameters import FedParameters
    from tpulint.semantic.batches.loaders import Loaders
    from tpulint.semantic.cuda.callers import Callers
    from tpulint.semantic.cuda.mixed_precision import MixedPrecision
    from tpulint.semantic.devices.device_counts import DeviceCounts
    from tpulint.semantic.devices.devices import Devices
    from tpulint.semantic.devices.environment import Environment
    from tpulint.semantic.devices.moved_tensors import MovedTensors
    from tpulint.semantic.devices.tensor_types import TensorTypes
    from tpulint.semantic.devices.xla_devices import XlaDevices
    from tpulint.semantic.functions.call_arguments import CallArguments
    from tpulint.semantic.functions.early_calls import EarlyCalls
    from tpulint.semantic.graphs.effects import Effects
    from tpulint.semantic.graphs.frozen_norms import FrozenNorms
    from tpulint.semantic.graphs.graph_numbers import GraphNumbers
    from tpulint.semantic.graphs.leftovers import Leftovers
    from tpulint.semantic.graphs.restarts import Restarts
    from tpulint.semantic.graphs.shared_tensors import SharedTensors
    from tpulint.semantic.graphs.statement_work import StatementWork
    from tpulint.semantic.loops.boundaries import Boundaries
    from tpulint.semantic.loops.clocks import Clocks
    from tpulint.semantic.loops.counters import Counters
    from tpulint.semantic.loops.paces import Paces
    from tpulint.semantic.loops.step_cuts import StepCuts
    from tpulint.semantic.loops.stretches import Stretches
    from tpulint.semantic.loops.turn_code import TurnCode
    from tpulint.semantic.loops.turns import Turns
    from tpulint.semantic.modules.averaged_models import AveragedModels
    from tpulint.semantic.modules.distributions import Distributions
    from tpulint.semantic.modules.handed_moves import HandedMoves
    from tpulint.semantic.modules.kept_states import KeptStates
    from tpulint.semantic.modules.module_calls import ModuleCalls
    from tpulint.semantic.modules.module_rows import ModuleRows
    from tpulint.semantic.modules.moves import Moves
    from tpulint.semantic.modules.saved_states import SavedStates
    from tpulint.semantic.modules.shared_weights import SharedWeights
    from tpulint.semantic.processes.launches import Launches
    from tpulint.semantic.processes.parent_process import ParentProcess
    from tpulint.semantic.processes.process_groups import ProcessGroups
    from tpulint.semantic.processes.ranks import Ranks
    from tpulint.semantic.reads.batched_reads import BatchedReads
    from tpulint.semantic.reads.deferrals import Deferrals
    from tpulint.semantic.reads.early_displays import EarlyDisplays
    from tpulint.semantic.reads.held_values import HeldValues
    from tpulint.semantic.reads.host_arithmetic import HostArithmetic
    from tpulint.semantic.reads.late_values import LateValues
    from tpulint.semantic.reads.returned_values import ReturnedValues
    from tpulint.semantic.reads.scalars import Scalars
    from tpulint.semantic.reads.shown_texts import ShownTexts
    from tpulint.semantic.reads.tensor_needs import TensorNeeds
    from tpulint.semantic.sizes.changing_lengths import ChangingLengths
    from tpulint.semantic.sizes.changing_numbers import ChangingNumbers
    from tpulint.semantic.sizes.dimensions import Dimensions
    from tpulint.semantic.sizes.episodes import Episodes
    from tpulint.semantic.sizes.masks import Masks
    from tpulint.semantic.sizes.words import Words
    from tpulint.semantic.syntax.module_body import ModuleBody
    from tpulint.semantic.totals.filled_arrays import FilledArrays
    from tpulint.semantic.totals.filled_lists import FilledLists
    from tpulint.semantic.totals.kept_dicts import KeptDicts
    from tpulint.semantic.totals.meters import Meters
    from tpulint.semantic.totals.totals import Totals
    from tpulint.semantic.values.number_types import NumberTypes


class Topic:
    """An attribute that holds ``Masks(index)`` of the module ``sizes.masks``, both by the name of the attribute.

    The module is loaded, and the object made, when it is first asked for. A topic that names the parts of the index it
    is made of is given these alone: it knows nothing else.
    """

    def __init__(self, package: str, made_of: tuple[str, ...]) -> None:
        self._package = package
        self._made_of = made_of

    def __set_name__(self, owner: type, name: str) -> None:
        self._module = f"{__package__}.{self._package}.{name}"
        self._name = name
        self._class = "".join(word.capitalize() for word in name.split("_"))

    def __get__(self, index: Any, owner: type | None = None) -> Any:
        if index is None:
            return self
        given = [getattr(index, name) for name in self._made_of] or [index]
        made = index.__dict__[self._name] = getattr(import_module(self._module), self._class)(*given)
        return made


def topic(package: str, *made_of: str) -> Any:
    """A :class:`Topic` of a package of the index, typed as what it holds."""
    return Topic(package, made_of)


class Topics:
    """One attribute for each: rules ask the index, which has them all."""

    # ---------------------------------------------------------------- loops and steps

    paces: Paces = topic("loops")
    """How often any line runs, those outside of all turns included."""

    turns: Turns = topic("loops")
    """Where in the turn of a loop its step boundary belongs."""

    statement_work: StatementWork = topic("graphs")
    """What statements do for the device."""

    boundaries: Boundaries = topic("loops")
    """Step boundaries, and on which side of them a line runs."""

    late_values: LateValues = topic("reads")
    """What is computed behind the step boundary."""

    turn_code: TurnCode = topic("loops")
    """Code that runs in every turn of a step or evaluation loop."""

    step_cuts: StepCuts = topic("loops")
    """Boundaries that cut a step in two."""

    stretches: Stretches = topic("loops")
    """Work whose time is taken."""

    clocks: Clocks = topic("loops")
    """Waits for the device in front of a clock."""

    deferrals: Deferrals = topic("reads")
    """Reads of a step, and what can be moved behind its boundary."""

    leftovers: Leftovers = topic("graphs")
    """Work that becomes part of the first step of the next loop."""

    restarts: Restarts = topic("graphs")
    """Totals that start anew with a number while a training goes on."""

    shared_weights: SharedWeights = topic("modules")
    """Trained weights that another model shares after a copy."""

    counters: Counters = topic("loops", "names", "flow")
    """Variables that count the turns of loops."""

    episodes: Episodes = topic("sizes")
    """Lists with one item for each move of a game."""

    effects: Effects = topic("graphs")
    """What statements read, bind and may change."""

    early_displays: EarlyDisplays = topic("reads")
    """What is put together in every turn and looked at now and then."""

    shown_texts: ShownTexts = topic("reads")
    """Texts put into a variable to be shown in the same turn."""

    # ---------------------------------------------------------------- reads, and numbers made of them

    batched_reads: BatchedReads = topic("reads")
    """Reads of one turn that one transfer can serve."""

    held_values: HeldValues = topic("reads")
    """Numbers read early in a turn and needed late."""

    returned_values: ReturnedValues = topic("reads")
    """Numbers that functions called in every step read and return."""

    totals: Totals = topic("totals")
    """Running totals kept on the host."""

    meters: Meters = topic("totals")
    """Objects that keep sums of what they are given."""

    filled_lists: FilledLists = topic("totals")
    """Lists of numbers read from the device."""

    filled_arrays: FilledArrays = topic("totals")
    """Lists of arrays read from the device."""

    kept_dicts: KeptDicts = topic("totals")
    """Dicts of the numbers of one step, looked at now and then."""

    host_arithmetic: HostArithmetic = topic("reads")
    """NumPy arithmetic on copies of device tensors."""

    tensor_needs: TensorNeeds = topic("reads")
    """What would miss the tensor where a number stood in for it."""

    shared_tensors: SharedTensors = topic("graphs")
    """Variables that may hold one tensor."""

    scalars: Scalars = topic("reads")
    """Single numbers on the device."""

    number_types: NumberTypes = topic("values")
    """Whether tensors hold whole numbers or fractions."""

    # ---------------------------------------------------------------- tensors and modules

    dimensions: Dimensions = topic("sizes")
    """How many dimensions tensors have."""

    masks: Masks = topic("sizes")
    """Boolean tensors, and shapes that are known to be equal."""

    tensor_types: TensorTypes = topic("devices")
    """Uses of CUDA's tensor classes."""

    moved_tensors: MovedTensors = topic("devices")
    """Tensors that the code shows to lie on the device."""

    distributions: Distributions = topic("modules")
    """Classes of probability distributions."""

    module_calls: ModuleCalls = topic("modules", "tree", "names", "flow", "definitions")
    """Calls of modules of the file."""

    module_rows: ModuleRows = topic("modules", "tree", "names", "flow", "definitions")
    """Modules that are run one after the other, and what they are given."""

    mixed_precision: MixedPrecision = topic("cuda", "tree", "names", "definitions")
    """Autocast contexts and gradient scalers."""

    frozen_norms: FrozenNorms = topic("graphs")
    """Batch normalisations in evaluation mode that a gradient goes through."""

    saved_states: SavedStates = topic("modules")
    """What holds the states of modules and optimizers."""

    kept_states: KeptStates = topic("modules")
    """Weights kept on the device, and loaded again and again."""

    averaged_models: AveragedModels = topic("modules")
    """Averages of models, and what they share with them."""

    # ---------------------------------------------------------------- what differs from turn to turn

    changing_numbers: ChangingNumbers = topic("sizes")
    """Numbers of the host that differ from turn to turn."""

    changing_lengths: ChangingLengths = topic("sizes")
    """Tensors and arrays of the host that have another length in every turn."""

    graph_numbers: GraphNumbers = topic("graphs")
    """Python numbers that are constants of the graph."""

    batch_measures: BatchMeasures = topic("batches")
    """Numbers taken from a batch."""

    words: Words = topic("sizes")
    """Lists with one item for each word of a text."""

    # ---------------------------------------------------------------- data

    loaders: Loaders = topic("batches")
    """Data loaders, and the loops they feed."""

    batch_makers: BatchMakers = topic("batches")
    """Functions that make the batches of loops."""

    fed_parameters: FedParameters = topic("batches")
    """Parameters that loops take their batches from."""

    # ---------------------------------------------------------------- devices

    devices: Devices = topic("devices")
    """Places that name, ask for or acquire a device."""

    device_counts: DeviceCounts = topic("devices", "tree", "names", "flow", "definitions")
    """Expressions that hold the number of GPUs."""

    xla_devices: XlaDevices = topic("devices")
    """Variables that hold the XLA device."""

    moves: Moves = topic("modules", "tree", "names", "flow", "definitions", "kinds", "imported")
    """Modules moved to the device, and what happens before."""

    handed_moves: HandedMoves = topic("modules")
    """Modules that functions of other files move, which are given them."""

    # ---------------------------------------------------------------- processes, and what surrounds them

    launches: Launches = topic("processes", "tree", "names", "definitions")
    """Processes the file starts; false when there are none."""

    parent_process: ParentProcess = topic("processes", "tree", "names", "definitions", "launches")
    """Code that runs before processes are started; false when none are."""

    process_groups: ProcessGroups = topic("processes")
    """Process groups the file joins."""

    ranks: Ranks = topic("processes")
    """Expressions that depend on the rank of the process."""

    environment: Environment = topic("devices")
    """Environment variables that the file sets and reads."""

    # ---------------------------------------------------------------- the file as a whole

    module_body: ModuleBody = topic("syntax")
    """The module's own statements."""

    callers: Callers = topic("cuda")
    """What a file of definitions alone leaves to those who use it."""

    call_arguments: CallArguments = topic("functions")
    """Arguments of calls, those of visible ``**`` dictionaries included."""

    early_calls: EarlyCalls = topic("functions", "tree", "names", "definitions", "imported")
    """What may run before a statement."""
