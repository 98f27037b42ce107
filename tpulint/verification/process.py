"""Runs a script in a process of its own, observed, and ends it when it takes too long."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import NamedTuple, TextIO

from tpulint.verification.records import Reader, Recording, Tally

_VARIABLE = "TPULINT_OBSERVATION"
_LOOK_SECONDS = 0.1
_GRACE_SECONDS = 3.0
"""Between asking a process to end and ending it."""
_STACK_SECONDS = 2.0
"""How long before the time limit the stack is written down."""


class Task(NamedTuple):
    """What to run, and how."""

    script: str
    arguments: tuple[str, ...]
    python: str
    start: str
    """Path of the file that starts the observer."""
    folder: str
    """An empty folder for records."""
    max_steps: int = 0
    timeout: float = 300.0
    compare: bool = False
    reference: bool = False
    """Whether it is the original, which runs on the CPU with CUDA absorbed."""
    drop_last: bool = False
    """Whether incomplete last batches are left out, as some ports do."""
    causes: bool = True
    coverage: bool = False
    """Whether every line that runs is written down."""
    pjrt_device: str = "CPU"
    temporary: str = ""
    """Folder for temporary files of the script; empty for that of this process."""
    capture: dict[str, object] | None = None
    """What ``tpulint plan`` wants of the step, which is then captured instead of observed."""


class Run(NamedTuple):
    """What came of it."""

    recording: Recording
    status: int
    """Exit status; negative for a signal."""
    timed_out: bool
    seconds: float
    output: str
    """Path of the file with everything it printed."""
    stack: str
    """Where every thread stood shortly before the time limit; empty when it did not come to that."""


Progress = Callable[[Tally], None]


def run(task: Task, on_progress: Progress | None = None, echo: TextIO | None = None) -> Run:
    """Run it to its end, its limit of steps or of time. ``echo`` gets what it prints, as it is printed."""
    output = os.path.join(task.folder, "output.txt")
    reader = Reader(task.folder)
    function = ("observe",) if task.capture is None else ("capture", "capturer")
    code = f"import runpy; runpy.run_path({task.start!r})['start'](*{function!r})"
    started = time.monotonic()
    with open(output, "wb") as sink:
        process = subprocess.Popen(
            [task.python, "-u", "-c", code, *task.arguments],
            env=_environment(task),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    timed_out = False
    with open(output, encoding="utf-8", errors="replace") as printed:
        try:
            while process.poll() is None:
                if time.monotonic() - started > task.timeout:
                    timed_out = True
                    break
                time.sleep(_LOOK_SECONDS)
                if echo is not None:
                    _relay(printed, echo)
                if on_progress is not None:
                    on_progress(reader.tally())
        finally:
            status = end(process)
            _end_detached(task.folder)
            if echo is not None:
                _relay(printed, echo)
    seconds = time.monotonic() - started
    stack = _stack(task.folder) if timed_out else ""
    return Run(reader.read()._replace(main_pid=process.pid), status, timed_out, seconds, output, stack)


def _environment(task: Task) -> dict[str, str]:
    environment = dict(os.environ)
    hang_at = time.time() + max(task.timeout - _STACK_SECONDS, task.timeout * 0.8)
    wishes: dict[str, object] = {"script": task.script, "folder": task.folder, "hang_at": hang_at}
    wishes |= (
        task.capture
        if task.capture is not None
        else {
            "max_steps": task.max_steps,
            "compare": task.compare,
            "reference": task.reference,
            "causes": task.causes,
            "coverage": task.coverage,
            "drop_last": task.drop_last,
        }
    )
    # A machine with a TPU has no CUDA either: whatever a GPU of this one would hide is to be seen.
    environment |= {_VARIABLE: json.dumps(wishes), "CUDA_VISIBLE_DEVICES": "", "PJRT_DEVICE": task.pjrt_device}
    if task.temporary:
        environment["TMPDIR"] = task.temporary
    if task.compare:
        environment["PYTHONHASHSEED"] = "0"
        environment["PYTORCH_JIT"] = "0"  # TorchScript would draw its numbers where nobody can make them comparable
    if task.reference:
        environment["USE_TORCH_XLA"] = "0"  # read by accelerate and transformers
        environment.pop("PJRT_DEVICE")
    return environment


def _relay(source: TextIO, sink: TextIO) -> None:
    text = source.read()
    if text:
        sink.write(text)
        sink.flush()


def interrupt_when_told_to_end() -> None:
    """From now on SIGTERM does what Ctrl-C does: processes are ended and folders removed on the way out."""
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def end(process: subprocess.Popen[bytes]) -> int:
    """End the process and all that it started; its exit status."""
    if process.poll() is None:
        _signal(process, getattr(signal, "SIGTERM", signal.SIGINT))
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)
    # What outlived it (workers of a data loader, say) has nobody left to wait for it.
    _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    return process.wait()


def _end_detached(folder: str) -> None:
    """End what the script started in a session of its own: its environment still names the folder of the records."""
    marker = f"{_VARIABLE}=".encode()
    name = json.dumps(folder).encode()
    for entry in os.listdir("/proc") if sys.platform == "linux" else ():
        if entry.isdecimal():
            with suppress(OSError):
                with open(f"/proc/{entry}/environ", "rb") as file:
                    settings = file.read().split(b"\0")
                if any(one.startswith(marker) and name in one for one in settings):
                    os.kill(int(entry), signal.SIGKILL)


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.terminate()
        else:
            os.killpg(process.pid, number)


def _stack(folder: str) -> str:
    texts = []
    for name in sorted(os.listdir(folder)):
        if name.startswith("stack-"):
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
    return "\n".join(filter(None, texts))
