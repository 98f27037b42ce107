"""The nouns every part of tpulint shares: spans, edits, fixes, findings, results.

Plain immutable values: picklable, comparable, printable. Nothing here imports what knows of linting.
"""

from __future__ import annotations

from enum import Enum, IntEnum

from tpulint.records import NamedTuple


class Applicability(IntEnum):
    """How far a fix may be applied without a person reading it. Ordered: a higher value needs less care."""

    DISPLAY = 0
    """Shown as advice, never applied."""
    UNSAFE = 1
    """Applied with ``--unsafe-fixes``: likely right, or changes something a person should know of."""
    SAFE = 2
    """Applied with ``--fix``: keeps what the program computes."""

    @property
    def label(self) -> str:
        """The word used in every output format: ``display``, ``unsafe`` or ``safe``."""
        return self.name.lower()


class Severity(IntEnum):
    """What the finding costs its user. Ordered."""

    INFO = 0
    WARNING = 1
    ERROR = 2

    @property
    def label(self) -> str:
        """The word used in every output format: ``info``, ``warning`` or ``error``."""
        return self.name.lower()


class Certainty(IntEnum):
    """How the facts behind a finding are known. ``LIKELY`` facts never carry a safe fix."""

    LIKELY = 0
    CERTAIN = 1


class Pace(Enum):
    """How often a line runs. The value is the word used in every output format."""

    STEP = "per step"
    LOG_INTERVAL = "per log interval"
    EVALUATION = "per evaluation batch"
    EPOCH = "per epoch"
    ONCE = "once"


class Scope(IntEnum):
    """How much of a file a fix must understand. The widest scope present is applied first."""

    EXPRESSION = 0
    STATEMENT = 1
    LOOP = 2
    MODULE = 3


class Span(NamedTuple):
    """Half-open range of code points in ``SourceFile.text``."""

    start: int
    end: int


class Suite(NamedTuple):
    """The block of statements a deleted statement belongs to, so that an emptied block gets ``pass``."""

    start: int
    """Offset of the first statement of the block: its identity within one text."""
    size: int
    """Number of statements in the block."""


class Edit(NamedTuple):
    """One replaced span. ``span.start == span.end`` inserts."""

    span: Span
    text: str
    deletes_from: Suite | None = None
    """Set when the edit removes one whole statement of that block."""
    placeholder: str = ""
    """Text to put here instead when the block would lose all of its statements."""


class ImportNeed(NamedTuple):
    """An import that the edits of a fix rely on: ``import module as alias`` or ``from module import name as alias``."""

    module: str
    name: str | None = None
    alias: str | None = None


class Fix(NamedTuple):
    """One whole repair. All of its edits are applied, or none."""

    title: str
    edits: tuple[Edit, ...]
    imports: tuple[ImportNeed, ...]
    applicability: Applicability
    reason: str
    """Why the fix has its applicability; one sentence."""
    scope: Scope = Scope.EXPRESSION
    import_edit: Edit | None = None
    """What imports ``imports``, where the fix is applied alone: known once its file is linted."""


class Finding(NamedTuple):
    """One place a rule speaks about."""

    code: str
    name: str
    span: Span
    message: str
    severity: Severity
    certainty: Certainty = Certainty.CERTAIN
    fix: Fix | None = None
    help: str = ""
    """What to do by hand, where no fix can be offered. Empty when the card's own advice is enough."""
    related: tuple[tuple[Span, str], ...] = ()
    """Other places that explain this one, such as where a value comes from."""
    pace: str = ""
    """How often the line runs, a value of ``Pace``; empty where it is not known, and in files that train nothing."""


WORDS_OF_LOOPS = ("backward", "no_grad", "inference_mode", "autograd.grad", '"eval"', "'eval'")
"""Without any of these words a file has no loop that trains or evaluates."""
WORDS_OF_CALLERS = (*WORDS_OF_LOOPS, "__main__", "DataLoader(", ".eval(", "train(", "optim.")
"""Without any of these words a file has no such loop, nor hands anything to one."""


WORDS_OF_READS = (".item(", ".cpu(", ".numpy(", ".tolist(")
"""Words of what reads the device, in a program whose loops only run what other files define."""


class OutsideCall(NamedTuple):
    """A call that another file makes in every turn of a step or evaluation loop."""

    function: str
    """Name of the function that is called, ``Meter.update`` for a method."""
    turn: str
    """``step`` or ``evaluation batch``; empty for a call outside of loops, which tells what a function is given."""
    is_behind: bool
    """Whether the call stands behind the step boundary, or where one belongs."""
    has_boundary: bool
    """Whether the loop has a step boundary."""
    arguments: tuple[tuple[str, str, str], ...]
    """Name, kind and side of the values given for parameters, where they are known."""
    caller: str
    """Name of the file of the call, without its folder."""
    fed: tuple[tuple[int | str, ...], ...] = ()
    """Parts of what the function returns that a step loop takes its batches from, places or keys, ``"['train']"``;
    ``()`` is the whole."""
    fed_evaluation: tuple[tuple[int | str, ...], ...] = ()
    """The same of an evaluation loop."""
    changing: tuple[str, ...] = ()
    """Parameters that every turn gives another number, or a tensor of the lengths in another batch."""
    lengths: tuple[str, ...] = ()
    """Parameters that every turn gives a list of the host of another length."""
    masks: tuple[str, ...] = ()
    """Parameters that are given a tensor of truth values."""
    classes: tuple[tuple[str, str, str], ...] = ()
    """Name of a parameter, absolute path of a file, and name of a class there that it is given an instance of, or of a
    function there; several for one parameter where it may be of several classes, or is a list."""
    keywords: tuple[str, ...] = ()
    """Names of the arguments of a call that gives a data loader; ``**`` for those of a dictionary."""
    collates: str = ""
    """What the turns are called that take batches which a data loader makes with the function; empty for a call."""
    is_part: bool = False
    """Whether what makes such a batch calls the function: other things may go with what this gives."""
    in_module: bool = False
    """Whether a module makes the call as it computes."""
    is_repeated: bool = False
    """Whether a loop makes the call again and again: in every epoch, or in every turn."""
    gpus: tuple[str, ...] = ()
    """Parameters that are given a device which the file of the call chooses, and calls by CUDA's name."""
    options: tuple[tuple[str, str, str], ...] = ()
    """Name of a parameter, absolute path of the file that parses the command line options it is given, and which of
    them name a device, as far as the file of the call knows, one behind the other: ``device eval_device``."""
    is_quiet: bool = False
    """Whether a function with loops is called, in no turn, where no gradient is recorded."""
    states: tuple[str, ...] = ()
    """Parameters that are given the state of a module or optimizer, to be saved."""
    states_by_key: tuple[tuple[str, str], ...] = ()
    """Parameters that are given a dictionary of them, with each key behind which it holds one."""
    modules: tuple[str, ...] = ()
    """Parameters that are given a module of the device, where the file of the function may save its state."""
    left: tuple[str, ...] = ()
    """Parameters that the call leaves at a default which is written out."""
    is_unfollowed: bool = False
    """Whether the function is only named there, or may be what is called: nothing but ``left`` is known then."""
    trains_on_device: bool = False
    """Whether the file of the call has to do with a device, and what it calls steps an optimizer: there, it seems."""
    replaces: bool = False
    """Whether this is no call: a class there is derived from the function's, and has a training step in its place."""
    gives_loss: bool = False
    """Whether the step that makes the call runs the backward pass of what it gives: the step ends there."""
    results: tuple[str, ...] = ()
    """Parameters that are given what a function nobody sees into made of tensors of the device, or a dict of such."""
    ends_step: bool = False
    """Whether the loop that makes the call has a boundary, or is told that it needs one; be it that only what it calls
    trains."""
    at_intervals: tuple[str, ...] = ()
    """Parameters that are given a condition which holds every n-th turn only, ``step % n == 0``."""
    leaves_update: bool = False
    """Whether a class that replaces a method leaves the update of what it trains to those that call the method."""
    ones: tuple[str, ...] = ()
    """Parameters that are given the number 1, of a call that gives a data loader."""
    lasting: tuple[str, ...] = ()
    """Parameters that are given a tensor of the device which a variable keeps from turn to turn, where the file of the
    function resizes any."""
    distributions: tuple[tuple[str, str], ...] = ()
    """Parameters that are given a class of torch.distributions itself, with its name."""


class OutgoingCall(NamedTuple):
    """The same, seen from the file that calls."""

    path: str
    """Absolute path of the file that defines the function."""
    call: OutsideCall


class FileResult(NamedTuple):
    """What linting (and fixing) one file gave."""

    path: str
    findings: tuple[Finding, ...]
    """Findings left in ``text``, in order of position."""
    text: str
    """The text the spans of ``findings`` refer to: the fixed text if fixes were applied, else the original."""
    original: str
    fixed: tuple[Finding, ...] = ()
    """Findings whose fixes were applied, in the order applied; their spans refer to intermediate texts."""
    rounds: int = 0
    error: str = ""
    """Set when the file could not be read or the engine failed on it; such a file is never written."""
    calls: tuple[OutgoingCall, ...] = ()
    """Calls of functions in other files that ``text`` makes in every turn of a loop."""
    cell_starts: tuple[int, ...] = ()
    """Offsets in ``text`` where the cells of a notebook begin; none for other files."""
    serves: bool = False
    """Whether the file only defines what other files use, so that their calls decide how often its lines run."""
