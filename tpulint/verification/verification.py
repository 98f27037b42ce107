"""One verification: run, read, judge."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, TextIO

from tpulint.verification import environment, losses
from tpulint.verification.compiles import WARM_UP, Compilation, compilations
from tpulint.verification.costs import Cost, costs, kind_of
from tpulint.verification.environment import Interpreter
from tpulint.verification.failures import Failure, failures, how_it_ended, was_stopped
from tpulint.verification.losses import Comparison, Tolerance
from tpulint.verification.numbers import count
from tpulint.verification.process import Run, Task, run
from tpulint.verification.records import ProcessRecords, Recording, Tally
from tpulint.verification.written_files import written_since


class Wishes(NamedTuple):
    """What somebody wants to have verified."""

    script: str
    arguments: tuple[str, ...] = ()
    against: str = ""
    """The original script, to compare losses with; empty for none."""
    max_steps: int = 20
    timeout: float = 300.0
    python: str | None = None
    relative_tolerance: float | None = None
    absolute_tolerance: float = losses.ABSOLUTE
    causes: bool = True
    pjrt_device: str = "CPU"


class Numbers(NamedTuple):
    """Something that was counted."""

    total: int
    late: int
    """After warm-up."""


class Verification(NamedTuple):
    """Everything that is known afterwards."""

    wishes: Wishes
    interpreter: Interpreter
    ending: str
    """``finished``, ``stopped`` (after the wanted number of steps), ``timeout`` or ``failed``."""
    seconds: float
    process: ProcessRecords
    """The process that trained."""
    costs: tuple[Cost, ...]
    failures: tuple[Failure, ...]
    notes: tuple[str, ...]
    compiles: Numbers
    host_syncs: Numbers
    transfers: Numbers
    comparison: Comparison | None
    output: tuple[str, ...]
    """The last lines that the script printed; empty when it did not fail."""


Announce = Callable[[str, int], "Callable[[Tally], None] | None"]
"""Told what runs now, and after how many steps it ends; gives what is to be told of its progress."""

_LINES_KEPT = 25
_FILES_NAMED = 3


def verify(wishes: Wishes, folder: str, announce: Announce, echo: TextIO | None = None) -> Verification:
    """Run everything, in an empty folder for records. Raises ``CannotRun``."""
    interpreter = environment.find(wishes.python)
    task = Task(
        wishes.script, wishes.arguments, interpreter.path, environment.observer_script(),
        _made(folder, "port"), wishes.max_steps, wishes.timeout, compare=bool(wishes.against), causes=wishes.causes,
        pjrt_device=wishes.pjrt_device,
    )  # fmt: skip
    began = time.time()
    port = run(task, announce(f"{os.path.basename(wishes.script)} on XLA", wishes.max_steps), echo)
    written = written_since(os.getcwd(), began) if wishes.against else []
    compiled = compilations(port.recording)
    found = failures(port, compiled, os.getcwd())
    comparison = None
    if wishes.against and port.recording.training.losses is not None:
        comparison, wrong = _compare(wishes, task, folder, port, announce, echo)
        found.extend(wrong)
    notes = [*_notes(port.recording, wishes), *_begun_elsewhere(comparison, written)]
    return _verification(wishes, interpreter, port, compiled, found, comparison, notes)


def _compare(
    wishes: Wishes, port_task: Task, folder: str, port: Run, announce: Announce, echo: TextIO | None
) -> tuple[Comparison | None, list[Failure]]:
    """Run the original, and look where losses part."""
    name = os.path.basename(wishes.against)
    task = port_task._replace(script=wishes.against, folder=_made(folder, "original"), reference=True)
    original = run(task, announce(f"{name} on the CPU", wishes.max_steps), echo)
    wrong = [Failure("original", f"the original: {one.text}", one.line) for one in how_it_ended(original, os.getcwd())]
    if wrong:
        return None, wrong
    ours = port.recording.training
    tolerance = Tolerance(_relative_tolerance(wishes, ours), wishes.absolute_tolerance)
    comparison = losses.compare(original.recording.training, ours, tolerance)
    if comparison is None:
        return None, [Failure("original", "the losses of the original could not be read")]
    if not comparison.is_equal and ours.dropping_loaders > original.recording.training.dropping_loaders:
        task = task._replace(folder=_made(folder, "dropping"), drop_last=True)
        again = run(task, announce(f"{name} on the CPU, without incomplete batches", wishes.max_steps), echo)
        other = losses.compare(again.recording.training, ours, tolerance, drops_last=True)
        if other is not None and other.is_nearer(comparison):
            comparison = other
    return comparison, [Failure("losses", text) for text in comparison.problems()]


def _relative_tolerance(wishes: Wishes, port: ProcessRecords) -> float:
    if wishes.relative_tolerance is not None:
        return wishes.relative_tolerance
    return losses.ROUNDED if port.uses_bfloat16 else losses.EXACT


def _made(folder: str, name: str) -> str:
    path = os.path.join(folder, name)
    os.mkdir(path)
    return path


def _verification(
    wishes: Wishes, interpreter: Interpreter, port: Run, compiled: Sequence[Compilation], found: Sequence[Failure],
    comparison: Comparison | None, notes: Sequence[str],
) -> Verification:  # fmt: skip
    recording = port.recording
    works = [work for process in recording.processes for work in process.works]
    cut = [work for work in works if kind_of(work) in ("sync", "fallback")]
    ending = "stopped" if was_stopped(recording) else "finished"
    if any(one.kind in ("script", "timeout") for one in found):
        ending = "timeout" if port.timed_out else "failed"
    return Verification(
        wishes,
        interpreter,
        ending,
        port.seconds,
        recording.training,
        tuple(costs(recording, compiled)),
        tuple(found),
        tuple(notes),
        Numbers(sum(work.compiles for work in works), sum(work.compiles for work in works if work.in_step > WARM_UP)),
        Numbers(sum(work.launches for work in cut), sum(work.launches for work in cut if work.in_step > WARM_UP)),
        Numbers(sum(work.reads for work in works), sum(work.reads for work in works if work.in_step > WARM_UP)),
        comparison,
        _last_lines(port.output) if ending in ("failed", "timeout") else (),
    )


def _notes(recording: Recording, wishes: Wishes) -> list[str]:
    process = recording.training
    found = []
    elsewhere = [device for device, _ in process.backwards if device != "xla"]
    if elsewhere and len(elsewhere) < len(process.backwards):
        found.append(f"{len(elsewhere)} of {len(process.backwards)} backward passes ran on {elsewhere[0]}, not on XLA")
    for optimizer in process.optimizers:
        idle = optimizer.parameters - optimizer.with_gradient
        if idle and optimizer.with_gradient:
            found.append(f"{idle} of the {optimizer.parameters} parameters of {optimizer.kind} never had a gradient")
        elif optimizer.changed is not None and 0 < optimizer.changed < optimizer.compared:
            still = optimizer.compared - optimizer.changed
            found.append(f"{still} of the {optimizer.compared} compared parameters of {optimizer.kind} do not change")
    if process.backwards and not process.optimizers and process.ending is not None:
        found.append("no optimizer of torch made a step: whether parameters change was not looked at")
    nowhere = sum(work.launches + work.reads for one in recording.processes for work in one.works if work.line is None)
    if nowhere:
        found.append(f"{nowhere} runs and reads while no line of the script ran: they are not in the list")
    if wishes.causes and any(work.compiles > len(work.graphs) for work in process.works):
        found.append("torch_xla wrote down no text of some graphs: why these were compiled is not known")
    for one in recording.processes:
        found.extend(one.notes)
        found.extend(f"started another process, which was not observed: {command}" for command in one.started)
    return found


def _begun_elsewhere(comparison: Comparison | None, written: Sequence[str]) -> list[str]:
    """Where the first losses differ already, the original may have begun with what the port has left."""
    if comparison is None or comparison.first_difference != 0 or not written:
        return []
    more = len(written) - _FILES_NAMED
    named = ", ".join(written[:_FILES_NAMED]) + (f" and {count(more, 'other file')}" if more > 0 else "")
    return [
        f"the run of the port left {named} here: if the original reads what an earlier run has left, as a checkpoint, "
        "remove that and verify again"
    ]


def _last_lines(path: str) -> tuple[str, ...]:
    with open(path, encoding="utf-8", errors="replace") as file:
        return tuple(file.read().splitlines()[-_LINES_KEPT:])
