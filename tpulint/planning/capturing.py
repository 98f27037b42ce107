"""Runs a script until its steady step is traced, and reads the graphs of that step."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from tpulint.digest import digest_of
from tpulint.planning.compiled import Capture, Program, Variant
from tpulint.planning.program_text import content_of, signature_of, what_is_computed, with_roles
from tpulint.planning.tensors import Place
from tpulint.verification.environment import Interpreter, observer_script
from tpulint.verification.failures import how_it_ended
from tpulint.verification.process import Run, Task, run
from tpulint.verification.records import Tally

STEP = 3
"""The first step that repeats the one before: the second takes in what the optimizer made in the first."""
_LONGEST_FOLDER = 107 - len("/pymp-12345678/listener-12345678")
"""What Linux takes as a path that a process listens at, without what multiprocessing names it."""
_SHORT_FOLDER = "/tmp"
_LAST_BYTES = 65536
"""Looked through for the last line that a script printed."""


class CannotCapture(Exception):
    """The step of a script could not be had. The message says why, and where."""


class Settings(NamedTuple):
    """How scripts are run."""

    interpreter: Interpreter
    folder: str
    """For records; each capture makes a folder of its own in it."""
    timeout: float = 300.0
    execute: bool = False
    """Whether steps are run even where tracing them would do."""


def capture(
    script: str,
    arguments: tuple[str, ...],
    variant: Variant,
    settings: Settings,
    on_progress: Callable[[Tally], None] | None = None,
) -> Capture:
    """The steady step. What cannot be traced without running it is run. Raises ``CannotCapture``, ``CannotRun``."""
    left = settings.timeout
    notes: tuple[str, ...] = ()
    if not settings.execute:
        ran = _run(script, arguments, variant, settings, False, left, on_progress)
        found = _read(ran, script, arguments, variant, notes)
        if isinstance(found, Capture):
            return found
        left -= ran.seconds
        notes = (f"The step could not be traced without running it ({found}), so it was run on the CPU.",)
        if left <= 0 or not _failed_in_training(ran):
            raise CannotCapture(found)
    ran = _run(script, arguments, variant, settings, True, left, on_progress)
    found = _read(ran, script, arguments, variant, notes)
    if isinstance(found, Capture):
        return found
    raise CannotCapture(found)


def _run(
    script: str, arguments: tuple[str, ...], variant: Variant, settings: Settings, execute: bool, timeout: float,
    on_progress: Callable[[Tally], None] | None,
) -> Run:  # fmt: skip
    folder = os.path.join(settings.folder, f"capture-{len(os.listdir(settings.folder))}")
    os.mkdir(folder)
    wishes: dict[str, object] = {
        "step": STEP, "execute": execute, "bf16": variant.bf16, "checkpointing": variant.checkpointing,
    }  # fmt: skip
    with _for_temporary_files(folder) as temporary:
        task = Task(
            script, arguments, settings.interpreter.path, observer_script(), folder, timeout=timeout, capture=wishes,
            temporary=temporary,
        )  # fmt: skip
        return run(task, on_progress)


def _for_temporary_files(folder: str) -> AbstractContextManager[str]:
    """A folder for those of a script. The process is left as soon as it has the step: what it would remove at its end
    goes with the records. Workers of a loader listen in it, at paths that may not be long."""
    beside = os.path.join(folder, "tmp")
    if len(os.fsencode(beside)) > _LONGEST_FOLDER and os.access(_SHORT_FOLDER, os.W_OK):
        return tempfile.TemporaryDirectory(prefix="tpulint-", dir=_SHORT_FOLDER, ignore_cleanup_errors=True)
    os.mkdir(beside)
    return nullcontext(beside)


def _read(ran: Run, script: str, arguments: tuple[str, ...], variant: Variant, notes: tuple[str, ...]) -> Capture | str:
    """The capture, or a sentence on why there is none."""
    for events in _events(ran.recording.folder):
        done = next((one for one in events if one["event"] == "captured"), None)
        programs = _programs(events)
        if done is not None and programs:
            return Capture(
                script, arguments, variant, programs, int(done["step"]), int(done["params"]),
                (*notes, *_notes(events)), ran.seconds,
            )  # fmt: skip
    return _why_not(ran)


def _failed_in_training(ran: Run) -> bool:
    """Whether the script may have failed because nothing was run: else running it would come to the same."""
    training = ran.recording.training
    if ran.timed_out or not training.backwards:
        return False
    if training.steps < STEP <= len(training.backwards):
        # A value that was made up may keep the optimizer from its step, as a scaler's sign of infinity does.
        return True
    return any(how_it_ended(ran, os.getcwd())) or bool(_trouble(ran))


def _trouble(ran: Run) -> str:
    """What the capturer says of its own failure."""
    texts = (event["text"] for events in _events(ran.recording.folder) for event in events if event["event"] == "note")
    return next((text for text in texts if text.startswith("capturing failed")), "")


def _events(folder: str) -> Iterator[list[dict[str, Any]]]:
    for name in sorted(os.listdir(folder)):
        if name.startswith("events-"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                yield [json.loads(line) for line in file if line.endswith("\n")]


def _programs(events: list[dict[str, Any]]) -> tuple[Program, ...]:
    runs: dict[int, int] = {}
    for event in events:
        if event["event"] == "run":
            runs[event["number"]] = runs.get(event["number"], 0) + 1
    found: dict[object, Program] = {}
    for event in events:
        if event["event"] == "program":
            program = _program(event, runs[event["number"]])
            # Two graphs may differ only in what waits in a loader meanwhile.
            key = (program.digest, program.read)
            found[key] = program._replace(runs=program.runs + (found[key].runs if key in found else 0))
    # A boundary with nothing to do makes a graph without results.
    return tuple(sorted((one for one in found.values() if one.outputs), key=lambda one: -len(one.code)))


def _program(event: dict[str, Any], runs: int) -> Program:
    with open(event["path"] + ".mlir", encoding="utf-8", errors="replace") as file:
        text = file.read()
    with open(event["path"] + ".mlirbc", "rb") as code_file:
        code = code_file.read()
    shapes, outputs = signature_of(text)
    read, computed = what_is_computed(text)
    roles = [[shape, role if number in read else "unread"] for number, (shape, role) in enumerate(event["roles"])]
    outputs = [one for one, is_computed in zip(outputs, computed, strict=True) if is_computed]
    place = Place(event["line"][0], event["line"][1]) if event["line"] else None
    arguments = with_roles(shapes, roles)
    return Program(digest_of(content_of(text, arguments).encode()), text, code, arguments, tuple(outputs), runs, place)


def _notes(events: list[dict[str, Any]]) -> Iterator[str]:
    yield from dict.fromkeys(event["text"] for event in events if event["event"] == "note")
    cuts = dict.fromkeys(
        f"{os.path.basename(event['line'][0])}:{event['line'][1]}"
        for event in events
        if event["event"] == "cut" and event["line"]
    )
    if cuts:
        yield (
            f"A value is read before the step boundary ({', '.join(cuts)}): on a device that cuts the step into more "
            "programs. It was compiled as if it were read after it."
        )
    if any(event["event"] == "dynamo" for event in events):
        yield "Parts of the step go through torch.compile: what those run is not in the plan."


def _why_not(ran: Run) -> str:
    recording = ran.recording
    process = recording.training
    ended = [
        f"{one.text}" + (f" ({os.path.basename(one.line.path)}:{one.line.row})" if one.line else "")
        for one in how_it_ended(ran, os.getcwd())
    ]
    said = _last_lines(ran.output)
    if ended:
        return ended[0] + (f"; the script printed last: {said}" if said else "")
    events = [event for events in _events(recording.folder) for event in events]
    if trouble := _trouble(ran):
        return trouble
    if not process.backwards:
        return "the script ended and never reached a training step: no backward pass ran"
    if "xla" not in {device for device, _ in process.backwards}:
        return f"no backward pass ran on XLA, all ran on {process.backwards[0][0]}: port the script first"
    if any(event["event"] == "dynamo" for event in events):
        return "the step runs through torch.compile, whose graphs cannot be captured: take it out for the plan"
    if process.steps < STEP:
        done = f"{process.steps} step{'s' * (process.steps != 1)}"
        return f"the script ended after {done}; {STEP} are needed to see the one that repeats"
    return "the script has no step boundary after its steps (torch_xla.sync): no graph is complete"


def _last_lines(path: str) -> str:
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - _LAST_BYTES))
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
    return " | ".join(lines[-1:])[:300] if lines else ""
