"""The topics of the semantic index: which there are, what each answers, and the modules that answer.

Names, kinds, reads and step loops, which nearly all topics are made of, are none: the index makes them itself.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tpulint.semantic.averaged_models import AveragedModels
    from tpulint.semantic.batch_makers import BatchMakers
    from tpulint.semantic.batch_measures import BatchMeasures
    from tpulint.semantic.batched_reads import BatchedReads
    from tpulint.semantic.boundaries import Boundaries
    from tpulint.semantic.call_arguments import CallArguments
    from tpulint.semantic.callers import Callers
    from tpulint.semantic.changing_lengths import ChangingLengths
    from tpulint.semantic.changing_numbers import ChangingNumbers
    from tpulint.semantic.clocks import Clocks
    from tpulint.semantic.counters import Counters
    from tpulint.semantic.deferrals import Deferrals
    from tpulint.semantic.device_counts import DeviceCounts
    from tpulint.semantic.devices import Devices
    from tpulint.semantic.dimensions import Dimensions
    from tpulint.semantic.distributions import Distributions
    from tpulint.semantic.early_calls import EarlyCalls
    from tpulint.semantic.early_displays import EarlyDisplays
    from tpulint.semantic.effects import Effects
    from tpulint.semantic.environment import Environment
    from tpulint.semantic.episodes import Episodes
    from tpulint.semantic.fed_parameters import FedParameters
    from tpulint.semantic.filled_arrays import FilledArrays
    from tpulint.semantic.filled_lists import FilledLists
    from tpulint.semantic.frozen_norms import FrozenNorms
    from tpulint.semantic.graph_numbers import GraphNumbers
    from tpulint.semantic.handed_moves import HandedMoves
    from tpulint.semantic.held_values import HeldValues
    from tpulint.semantic.host_arithmetic import HostArithmetic
    from tpulint.semantic.kept_dicts import KeptDicts
    from tpulint.semantic.kept_states import KeptStates
    from tpulint.semantic.late_values import LateValues
    from tpulint.semantic.launches import Launches
    from tpulint.semantic.leftovers import Leftovers
    from tpulint.semantic.loaders import Loaders
    from tpulint.semantic.masks import Masks
    from tpulint.semantic.meters import Meters
    from tpulint.semantic.mixed_precision import MixedPrecision
    from tpulint.semantic.module_body import ModuleBody
    from tpulint.semantic.module_calls import ModuleCalls
    from tpulint.semantic.module_rows import ModuleRows
    from tpulint.semantic.moved_tensors import MovedTensors
    from tpulint.semantic.moves import Moves
    from tpulint.semantic.number_types import NumberTypes
    from tpulint.semantic.paces import Paces
    from tpulint.semantic.parent_process import ParentProcess
    from tpulint.semantic.process_groups import ProcessGroups
    from tpulint.semantic.ranks import Ranks
    from tpulint.semantic.restarts import Restarts
    from tpulint.semantic.returned_values import ReturnedValues
    from tpulint.semantic.saved_states import SavedStates
    from tpulint.semantic.scalars import Scalars
    from tpulint.semantic.shared_tensors import SharedTensors
    from tpulint.semantic.shared_weights import SharedWeights
    from tpulint.semantic.shown_texts import ShownTexts
    from tpulint.semantic.statement_work import StatementWork
    from tpulint.semantic.step_cuts import StepCuts
    from tpulint.semantic.stretches import Stretches
    from tpulint.semantic.tensor_needs import TensorNeeds
    from tpulint.semantic.tensor_types import TensorTypes
    from tpulint.semantic.totals import Totals
    from tpulint.semantic.turn_code import TurnCode
    from tpulint.semantic.turns import Turns
    from tpulint.semantic.words import Words
    from tpulint.semantic.xla_devices import XlaDevices


class Topic:
    """An attribute that holds ``Masks(index)`` of the module ``masks``, both by the name of the attribute.

    The module is loaded, and the object made, when it is first asked for. A topic that names the parts of the index it
    is made of is given these alone: it knows nothing else.
    """

    def __init__(self, made_of: tuple[str, ...]) -> None:
        self._made_of = made_of

    def __set_name__(self, owner: type, name: str) -> None:
        self._module = f"{__package__}.{name}"
        self._name = name
        self._class = "".join(word.capitalize() for word in name.split("_"))

    def __get__(self, index: Any, owner: type | None = None) -> Any:
        if index is None:
            return self
        given = [getattr(index, name) for name in self._made_of] or [index]
        made = index.__dict__[self._name] = getattr(import_module(self._module), self._class)(*given)
        return made


def topic(*made_of: str) -> Any:
    """A :class:`Topic`, typed as what it holds."""
    return Topic(made_of)


class Topics:
    """One attribute for each: rules ask the index, which has them all."""

    # ---------------------------------------------------------------- loops and steps

    paces: Paces = topic()
    """How often any line runs, those outside of all turns included."""

    turns: Turns = topic()
    """Where in the turn of a loop its step boundary belongs."""

    statement_work: StatementWork = topic()
    """What statements do for the device."""

    boundaries: Boundaries = topic()
    """Step boundaries, and on which side of them a line runs."""

    late_values: LateValues = topic()
    """What is computed behind the step boundary."""

    turn_code: TurnCode = topic()
    """Code that runs in every turn of a step or evaluation loop."""

    step_cuts: StepCuts = topic()
    """Boundaries that cut a step in two."""

    stretches: Stretches = topic()
    """Work whose time is taken."""

    clocks: Clocks = topic()
    """Waits for the device in front of a clock."""

    deferrals: Deferrals = topic()
    """Reads of a step, and what can be moved behind its boundary."""

    leftovers: Leftovers = topic()
    """Work that becomes part of the first step of the next loop."""

    restarts: Restarts = topic()
    """Totals that start anew with a number while a training goes on."""

    shared_weights: SharedWeights = topic()
    """Trained weights that another model shares after a copy."""

    counters: Counters = topic("names", "flow")
    """Variables that count the turns of loops."""

    episodes: Episodes = topic()
    """Lists with one item for each move of a game."""

    effects: Effects = topic()
    """What statements read, bind and may change."""

    early_displays: EarlyDisplays = topic()
    """What is put together in every turn and looked at now and then."""

    shown_texts: ShownTexts = topic()
    """Texts put into a variable to be shown in the same turn."""

    # ---------------------------------------------------------------- reads, and numbers made of them

    batched_reads: BatchedReads = topic()
    """Reads of one turn that one transfer can serve."""

    held_values: HeldValues = topic()
    """Numbers read early in a turn and needed late."""

    returned_values: ReturnedValues = topic()
    """Numbers that functions called in every step read and return."""

    totals: Totals = topic()
    """Running totals kept on the host."""

    meters: Meters = topic()
    """Objects that keep sums of what they are given."""

    filled_lists: FilledLists = topic()
    """Lists of numbers read from the device."""

    filled_arrays: FilledArrays = topic()
    """Lists of arrays read from the device."""

    kept_dicts: KeptDicts = topic()
    """Dicts of the numbers of one step, looked at now and then."""

    host_arithmetic: HostArithmetic = topic()
    """NumPy arithmetic on copies of device tensors."""

    tensor_needs: TensorNeeds = topic()
    """What would miss the tensor where a number stood in for it."""

    shared_tensors: SharedTensors = topic()
    """Variables that may hold one tensor."""

    scalars: Scalars = topic()
    """Single numbers on the device."""

    number_types: NumberTypes = topic()
    """Whether tensors hold whole numbers or fractions."""

    # ---------------------------------------------------------------- tensors and modules

    dimensions: Dimensions = topic()
    """How many dimensions tensors have."""

    masks: Masks = topic()
    """Boolean tensors, and shapes that are known to be equal."""

    tensor_types: TensorTypes = topic()
    """Uses of CUDA's tensor classes."""

    moved_tensors: MovedTensors = topic()
    """Tensors that the code shows to lie on the device."""

    distributions: Distributions = topic()
    """Classes of probability distributions."""

    module_calls: ModuleCalls = topic("tree", "names", "flow", "definitions")
    """Calls of modules of the file."""

    module_rows: ModuleRows = topic("tree", "names", "flow", "definitions")
    """Modules that are run one after the other, and what they are given."""

    mixed_precision: MixedPrecision = topic("tree", "names", "definitions")
    """Autocast contexts and gradient scalers."""

    frozen_norms: FrozenNorms = topic()
    """Batch normalisations in evaluation mode that a gradient goes through."""

    saved_states: SavedStates = topic()
    """What holds the states of modules and optimizers."""

    kept_states: KeptStates = topic()
    """Weights kept on the device, and loaded again and again."""

    averaged_models: AveragedModels = topic()
    """Averages of models, and what they share with them."""

    # ---------------------------------------------------------------- what differs from turn to turn

    changing_numbers: ChangingNumbers = topic()
    """Numbers of the host that differ from turn to turn."""

    changing_lengths: ChangingLengths = topic()
    """Tensors and arrays of the host that have another length in every turn."""

    graph_numbers: GraphNumbers = topic()
    """Python numbers that are constants of the graph."""

    batch_measures: BatchMeasures = topic()
    """Numbers taken from a batch."""

    words: Words = topic()
    """Lists with one item for each word of a text."""

    # ---------------------------------------------------------------- data

    loaders: Loaders = topic()
    """Data loaders, and the loops they feed."""

    batch_makers: BatchMakers = topic()
    """Functions that make the batches of loops."""

    fed_parameters: FedParameters = topic()
    """Parameters that loops take their batches from."""

    # ---------------------------------------------------------------- devices

    devices: Devices = topic()
    """Places that name, ask for or acquire a device."""

    device_counts: DeviceCounts = topic("tree", "names", "flow", "definitions")
    """Expressions that hold the number of GPUs."""

    xla_devices: XlaDevices = topic()
    """Variables that hold the XLA device."""

    moves: Moves = topic("tree", "names", "flow", "definitions", "kinds", "imported")
    """Modules moved to the device, and what happens before."""

    handed_moves: HandedMoves = topic()
    """Modules that functions of other files move, which are given them."""

    # ---------------------------------------------------------------- processes, and what surrounds them

    launches: Launches = topic("tree", "names", "definitions")
    """Processes the file starts; false when there are none."""

    parent_process: ParentProcess = topic("tree", "names", "definitions", "launches")
    """Code that runs before processes are started; false when none are."""

    process_groups: ProcessGroups = topic()
    """Process groups the file joins."""

    ranks: Ranks = topic()
    """Expressions that depend on the rank of the process."""

    environment: Environment = topic()
    """Environment variables that the file sets and reads."""

    # ---------------------------------------------------------------- the file as a whole

    module_body: ModuleBody = topic()
    """The module's own statements."""

    callers: Callers = topic()
    """What a file of definitions alone leaves to those who use it."""

    call_arguments: CallArguments = topic()
    """Arguments of calls, those of visible ``**`` dictionaries included."""

    early_calls: EarlyCalls = topic("tree", "names", "definitions", "imported")
    """What may run before a statement."""
