"""What makes a run a failed one."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tpulint.verification.compiles import Compilation
from tpulint.verification.process import Run
from tpulint.verification.records import Line, Optimizer, ProcessRecords, Recording, Work
from tpulint.verification.stacks import line_of_stack

_WARM_UP_RUNS = 2
"""Steps of a line in which compiling is no sign of anything: the first graph, and the optimizer's state."""
_UNSETTLED_SHARE = 0.3
_UNSETTLED_STEPS = 2
"""A line does not settle when it still compiles in so many, and such a share, of the later half of its steps."""


class Failure(NamedTuple):
    """One reason for exit status 1."""

    kind: str
    """``script``, ``timeout``, ``not-trained-on-xla``, ``optimizer``, ``no-step-boundary``, ``not-settled``, ``losses``
    or ``original``."""
    text: str
    line: Line | None = None


def failures(run: Run, compiled: Sequence[Compilation], root: str) -> list[Failure]:
    """Everything that is wrong with a run on XLA."""
    own = [*how_it_ended(run, root)]
    process = run.recording.training
    if own and not process.backwards:
        return own  # whatever else is missing is missing because of that
    return [*own, *_training(process), *_settling(run.recording, compiled)]


def was_stopped(recording: Recording) -> bool:
    """Whether the script was stopped because the wanted number of steps was done."""
    return any(one.ending is not None and one.ending.how == "max-steps" for one in recording.processes)


def how_it_ended(run: Run, root: str) -> Iterator[Failure]:
    """The failure of the script itself, if it failed."""
    if run.timed_out:
        line = line_of_stack(run.stack, root)
        yield Failure("timeout", f"still running after {run.seconds:.0f} s, and stopped", line)
        return
    if was_stopped(run.recording):
        return  # a parent process that waits for the one that was stopped may well complain
    ending = run.recording.main.ending
    if ending is None:
        yield Failure("script", f"the process {_died(run.status)}")
    elif ending.how == "exception":
        yield Failure("script", f"the script failed: {ending.error}{_explained(ending.error)}", ending.line)
    elif ending.status:
        says = f": {ending.error}" if ending.error else ""
        yield Failure("script", f"the script left with exit status {ending.status}{says}", ending.line)
    elif run.status < 0:
        yield Failure("script", f"after the end of the script, the process {_died(run.status)}")


def _explained(error: str) -> str:
    """What a message of torch_xla means that does not say it."""
    return f". {_SHARED_BUFFER}" if any(text in error for text in _DELETED) else ""


_DELETED = ("buffer->IsDeleted()", "deleted or donated buffer", "Trying to access XLA data for tensor")
_SHARED_BUFFER = (
    "Such a tensor was copied into another one (`a.copy_(b)`, `load_state_dict`), which shares its buffer and was then "
    "updated in place: keep the copy on the host, see `tpulint rule TPU322`, and TPU325 for averages of models"
)


def _died(status: int) -> str:
    if status >= 0:
        return f"ended with exit status {status} and left no word"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


def _training(process: ProcessRecords) -> Iterator[Failure]:
    devices = [device for device, _ in process.backwards]
    if not devices:
        yield Failure("not-trained-on-xla", "no backward pass ran: nothing was trained")
    elif "xla" not in devices:
        where = ", ".join(sorted(set(devices)))
        yield Failure("not-trained-on-xla", f"no backward pass ran on XLA: all {len(devices)} ran on {where}")
    else:
        for optimizer in process.optimizers:
            yield from _optimizer(optimizer)


def _optimizer(optimizer: Optimizer) -> Iterator[Failure]:
    name = f"the optimizer ({optimizer.kind}, {optimizer.parameters} parameters)"
    elsewhere = [device for device in optimizer.devices if device != "xla"]
    if elsewhere and not _trains_on_the_host(optimizer):
        mixed = "some" if "xla" in optimizer.devices else "only"
        yield Failure(
            "optimizer",
            f"{name} holds {mixed} parameters on {', '.join(elsewhere)}, but the backward passes run on XLA: build it "
            "after the model was moved, or those are never trained",
        )
    elif not optimizer.with_gradient:
        yield Failure("optimizer", f"{name} never saw a gradient: it does not hold the parameters that the model uses")
    elif optimizer.changed == 0:
        yield Failure("optimizer", f"the parameters of {name} do not change")


def _trains_on_the_host(optimizer: Optimizer) -> bool:
    """Whether its parameters were left there on purpose, as the temperature of an agent is: all of them train."""
    return (
        "xla" not in optimizer.devices and optimizer.with_gradient == optimizer.parameters and bool(optimizer.changed)
    )


def _settling(recording: Recording, compiled: Sequence[Compilation]) -> Iterator[Failure]:
    process = recording.training
    if "xla" not in {device for device, _ in process.backwards}:
        return
    if process.steps > 1 and not any(work.boundaries for work in process.works):
        yield Failure(
            "no-step-boundary", f"{process.steps} steps, but no step boundary: every step adds to one growing graph"
        )
        return
    by_line: dict[tuple[Line | None, bool], list[Work]] = {}
    for work in process.works:
        if work.launches:
            by_line.setdefault((work.line, work.is_boundary), []).append(work)
    for (line, is_boundary), works in by_line.items():
        steps = _steps_with_compiles(works)
        late = steps[_WARM_UP_RUNS:]
        late = late[len(late) // 2 :]
        if sum(late) >= max(_UNSETTLED_STEPS, _UNSETTLED_SHARE * len(late)):
            # What changed in the last such step says most.
            causes = [one.cause for one in compiled if one.work in works and one.cause is not None]
            because = f" ({causes[-1].text})" if causes else ""
            where = "its step boundary" if is_boundary else "a host sync"
            yield Failure(
                "not-settled", f"the graph does not settle: {where} still compiles in {sum(late)} of the last "
                f"{len(late)} steps that it ran in{because}", line,
            )  # fmt: skip


def _steps_with_compiles(works: Sequence[Work]) -> list[bool]:
    """For every step in which a line launched something: whether anything had to be compiled."""
    steps: dict[int, bool] = {}
    for work in works:
        if work.backward:
            steps[work.in_step] = steps.get(work.in_step, False) or work.compiles > 0
    return [compiled for _, compiled in sorted(steps.items())]
