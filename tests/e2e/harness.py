"""Runs a GPU training script and its port, and judges the port by what both were seen to do.

The original runs on the CPU with the name "cuda" aliased to it: that is the reference. The port runs on XLA with
nothing aliased (``PJRT_DEVICE=CPU``, where torch.cuda is as absent as on a TPU machine). A portable port also runs as
the original did, and on the CPU with torch_xla hidden. The driver folder records all of them from the outside; see
``driver/recorder.py`` for how measuring is kept from disturbing.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from command import ask, tpulint
from xla_flags import QUICKLY

HERE = Path(__file__).parent
REPOSITORY = HERE.parent.parent
DRIVER = HERE / "driver"

XLA_PYTHON = os.environ.get("TPULINT_XLA_PYTHON", sys.executable)
"""The interpreter that has torch and torch_xla. Set the variable where the development tools live elsewhere."""

WARM_UP = 3
"""Steps in which compiling is expected: the first, the one that meets the optimizer's state, and one more."""
ABSOLUTE_TOLERANCE = 1e-4
ENOUGH_STEPS = 5
TIMEOUT = 240.0
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "OMP_NUM_THREADS")


class Case(NamedTuple):
    """One script and what its port may cost."""

    script: Path
    transfers_per_step: float
    """Reads from the device in a plain training step after warm-up, on average: at most this."""
    because: str
    """Why the script needs that much."""
    arguments: tuple[str, ...] = ()
    backwards_per_step: int = 1
    relative_tolerance: float = 2e-3
    """Of the losses. Wider where the port computes in bfloat16."""
    compiles: int = 0
    """Programs compiled in plain training steps after warm-up: at most this. Not 0 only for a reason given in
    ``because``."""
    may_drop_last: bool = False
    """Whether a port that leaves out the incomplete last batches is right as well."""
    prints_alike: bool = False
    """Whether all numbers that the original prints are to be printed by the port too."""

    @property
    def name(self) -> str:
        return self.script.stem


class Optimizer(NamedTuple):
    """An optimizer at the end of a run."""

    devices: tuple[str, ...]
    size: int
    checksum: float
    """Sum of the absolute values of its parameters."""


class Recording(NamedTuple):
    """What one run was seen to do."""

    exit_code: int
    output: str
    losses: tuple[float | None, ...] = ()
    devices: tuple[str, ...] = ()
    """Device type of the root of every backward."""
    counts: tuple[dict[str, int], ...] = ()
    """Counters of XLA at every backward."""
    aside: tuple[bool, ...] = ()
    """Whether an evaluation or a checkpoint came between this backward and the one before."""
    optimizers: tuple[Optimizer, ...] = ()


class Cost(NamedTuple):
    """What the plain training steps after warm-up cost."""

    steps: int
    compiles: int
    transfers_per_step: float
    executions_per_step: float
    boundaries_per_step: float


class FixFailed(Exception):
    """The linter did not do its work: it crashed or refused the command line."""


def has_xla() -> bool:
    """Whether ported scripts can run here."""
    return "TPULINT_XLA_PYTHON" in os.environ or importlib.util.find_spec("torch_xla") is not None


def fix(script: Path, *options: str) -> str:
    """Lets the linter port ``script`` in place and returns the new text."""
    answer = tpulint("--fix", "--unsafe-fixes", *options, script.name, cwd=script.parent)
    if answer.status not in (0, 1):
        raise FixFailed(f"exit code {answer.status}\n{answer.out}{answer.err}")
    return script.read_text(encoding="utf-8")


_originals: dict[tuple[Case, bool, bool], Recording] = {}
"""Runs of originals, which are the same for every port: by case, whether CUDA is there, and last batches."""


def record_reference(case: Case, folder: Path, drop_last: bool = False, has_cuda: bool = True) -> Recording:
    """Runs the original, on the CPU, unless this was done before."""
    key = (case, has_cuda, drop_last)
    if key not in _originals:
        record = record_on_cuda if has_cuda else record_on_host
        _originals[key] = record(case, case.script.read_text(encoding="utf-8"), folder, drop_last)
    return _originals[key]


def record_port(case: Case, text: str, folder: Path) -> Recording:
    """Runs a port, on XLA."""
    return _record(case, text, folder, {"TPULINT_RUN_MODE": "ported", "PJRT_DEVICE": "CPU"})


def record_on_cuda(case: Case, text: str, folder: Path, drop_last: bool = False) -> Recording:
    """Runs a text where there is CUDA: on the CPU, with the name "cuda" aliased to it."""
    environment = {"TPULINT_RUN_MODE": "reference", "TPULINT_RUN_DROP_LAST": str(int(drop_last))}
    return _record(case, text, folder, environment)


def record_on_host(case: Case, text: str, folder: Path, drop_last: bool = False) -> Recording:
    """Runs a text where there is neither CUDA nor torch_xla."""
    environment = {"TPULINT_RUN_MODE": "host", "TPULINT_RUN_DROP_LAST": str(int(drop_last))}
    return _record(case, text, folder, environment)


def _record(case: Case, text: str, folder: Path, environment: dict[str, str]) -> Recording:
    """Runs ``text`` in a process of its own, in ``folder``, which is emptied."""
    shutil.rmtree(folder, ignore_errors=True)
    records = folder / "records"
    records.mkdir(parents=True)
    (folder / case.script.name).write_text(text, encoding="utf-8")
    variables = environment | {"MASTER_PORT": str(_free_port()), "TPULINT_RUN_RECORDS": str(records)}
    exit_code, output = _run(folder, [case.script.name, *case.arguments], variables)
    runs = [json.loads(file.read_text()) for file in records.iterdir()]
    if len(runs) != 1:
        return Recording(exit_code, f"{output}\n{len(runs)} processes trained, expected 1")
    return _recording(exit_code, output, runs[0])


def _run(folder: Path, command: list[str], environment: dict[str, str]) -> tuple[int, str]:
    """Runs a script with its arguments; exit status and what it printed."""
    environment = _plain_environment() | environment
    output = folder / "records.txt"
    wish = {"folder": str(folder), "script": command[0], "arguments": command[1:], "output": str(output)}
    status = ask(_fork_server(), wish | {"environment": environment}, TIMEOUT)
    if status is None:
        raise subprocess.TimeoutExpired(command, TIMEOUT, output.read_bytes())
    return status, output.read_text(encoding="utf-8", errors="replace")


@functools.cache
def _fork_server() -> subprocess.Popen[bytes]:
    """The process that forks those of the scripts. It ends when this one does, with its standard input."""
    command = [XLA_PYTHON, str(DRIVER / "fork_server.py")]
    return subprocess.Popen(command, env=_plain_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


def _plain_environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in KEPT_ENVIRONMENT}
    return kept | {
        "PYTHONPATH": os.pathsep.join([str(DRIVER), str(REPOSITORY / "runtime")]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "CUDA_VISIBLE_DEVICES": "",
        "XLA_FLAGS": QUICKLY,
    }


def _recording(exit_code: int, output: str, run: dict[str, Any]) -> Recording:
    snapshots = run["snapshots"]
    return Recording(
        exit_code,
        output,
        losses=tuple(run["losses"]),
        devices=tuple(snapshot["device"] for snapshot in snapshots),
        counts=tuple(snapshot["counts"] for snapshot in snapshots),
        aside=tuple(snapshot["aside"] for snapshot in snapshots),
        optimizers=tuple(Optimizer(tuple(o["devices"]), o["size"], o["checksum"]) for o in run["optimizers"]),
    )


def _free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def cost(recording: Recording, backwards_per_step: int) -> Cost:
    """Adds up the counters between the first backwards of neighbouring steps, leaving out warm-up and asides."""
    firsts = range(0, len(recording.counts) - backwards_per_step, backwards_per_step)
    plain = [
        (recording.counts[first], recording.counts[first + backwards_per_step])
        for step, first in enumerate(firsts)
        if step >= WARM_UP and not any(recording.aside[first + 1 : first + backwards_per_step + 1])
    ]

    def total(name: str) -> int:
        return sum(after.get(name, 0) - before.get(name, 0) for before, after in plain)

    steps = max(len(plain), 1)
    return Cost(
        len(plain),
        total("UncachedCompile"),
        total("TransferFromDeviceTime") / steps,
        total("ExecuteTime") / steps,
        total("MarkStep") / steps,
    )


def measure(case: Case, text: str, folder: Path) -> list[str]:
    """Runs the original and a port of it, both under ``folder``, and returns what is wrong with the port."""
    reference = record_reference(case, folder / "reference")
    port = record_port(case, text, folder / "port")
    if case.may_drop_last and 0 < len(port.losses) < len(reference.losses):
        reference = record_reference(case, folder / "reference", drop_last=True)
    return judge(case, reference, port)


def measure_elsewhere(case: Case, text: str, folder: Path) -> list[str]:
    """Runs the original and a portable port on CUDA and on the CPU alone, and returns what is wrong with the port."""
    complaints = []
    for where, has_cuda in (("CUDA", True), ("the CPU", False)):
        reference = record_reference(case, folder / "reference", has_cuda=has_cuda)
        # Some originals train on GPUs only.
        on_cuda = has_cuda or bool(reference.exit_code) or not reference.losses
        if on_cuda != has_cuda:
            reference = record_reference(case, folder / "reference")
        port = (record_on_cuda if has_cuda else record_on_host)(case, text, folder / "port")
        if case.may_drop_last and 0 < len(port.losses) < len(reference.losses):
            reference = record_reference(case, folder / "reference", drop_last=True, has_cuda=on_cuda)
        complaints += [f"on {where}: {complaint}" for complaint in judge_elsewhere(case, reference, port)]
    return complaints


def judge_elsewhere(case: Case, reference: Recording, port: Recording) -> list[str]:
    """Everything that is wrong with a portable port where there is no XLA."""
    if reference.exit_code or not reference.losses:
        return [f"the original does not run:\n{reference.output}"]
    if port.exit_code or not port.losses:
        return [f"the port does not run (exit code {port.exit_code}):\n{port.output}"]
    wrong = _judge_values(case, reference, port)
    if any(port.counts):
        wrong.append("torch_xla was loaded")
    return wrong


def judge(case: Case, reference: Recording, port: Recording) -> list[str]:
    """Everything that is wrong with the port, in words; empty for a good one."""
    wrong = judge_results(case, reference, port)
    return wrong if port.exit_code or not port.losses else [*wrong, *_judge_cost(case, port)]


def judge_results(case: Case, reference: Recording, port: Recording) -> list[str]:
    """What is wrong with the port but for what it costs."""
    if reference.exit_code or not reference.losses:
        return [f"the original does not run:\n{reference.output}"]
    if port.exit_code or not port.losses:
        return [f"the port does not run (exit code {port.exit_code}):\n{port.output}"]
    complaints = [*_judge_devices(port), *_judge_values(case, reference, port)]
    return [*complaints, *_judge_output(case, reference, port)] if case.prints_alike else complaints


def _judge_devices(port: Recording) -> list[str]:
    wrong = []
    if set(port.devices) != {"xla"}:
        wrong.append(f"losses on {sorted(set(port.devices))}, not on XLA alone")
    for optimizer in port.optimizers:
        if optimizer.devices != ("xla",):
            wrong.append(f"an optimizer holds parameters on {list(optimizer.devices)}, not on XLA alone")
    return wrong


def _judge_values(case: Case, reference: Recording, port: Recording) -> list[str]:
    wrong = []
    if len(port.losses) != len(reference.losses):
        wrong.append(f"{len(port.losses)} backwards, the original has {len(reference.losses)}")
    pairs = enumerate(zip(reference.losses, port.losses, strict=False))
    off = [(i, a, b) for i, (a, b) in pairs if not _equal(a, b, case.relative_tolerance)]
    if off:
        first, expected, seen = off[0]
        wrong.append(f"{len(off)} losses differ, first that of backward {first}: {seen}, originally {expected}")
    if len(port.optimizers) != len(reference.optimizers):
        wrong.append(f"{len(port.optimizers)} optimizers step, the original has {len(reference.optimizers)}")
    for ours, theirs in zip(port.optimizers, reference.optimizers, strict=False):
        if ours.size != theirs.size:
            wrong.append(f"an optimizer holds {ours.size} numbers, originally {theirs.size}")
        elif not _equal(ours.checksum, theirs.checksum, case.relative_tolerance):
            wrong.append(f"parameters end at checksum {ours.checksum}, originally {theirs.checksum}")
    return wrong


def _judge_output(case: Case, reference: Recording, port: Recording) -> list[str]:
    """Lines of the original that the port does not print, numbers compared as losses are; warnings are left out."""
    printed = [line for line in port.output.splitlines() if "Warning" not in line]
    wanted = reference.output.splitlines()
    if len(printed) < len(wanted):
        return [f"{len(printed)} lines printed, the original prints {len(wanted)}"]
    # The port may warn in front; what it prints stands at the end.
    for expected, seen in zip(wanted, printed[len(printed) - len(wanted) :], strict=True):
        pairs = list(zip(_NUMBER.findall(expected), _NUMBER.findall(seen), strict=False))
        same_text = _NUMBER.sub("#", expected) == _NUMBER.sub("#", seen)
        if not same_text or not all(_equal(float(a), float(b), case.relative_tolerance) for a, b in pairs):
            return [f"printed {seen!r}, originally {expected!r}"]
    return []


def _equal(expected: float | None, seen: float | None, relative_tolerance: float) -> bool:
    if expected is None or seen is None:
        return expected is seen
    return math.isclose(expected, seen, rel_tol=relative_tolerance, abs_tol=ABSOLUTE_TOLERANCE)


def _judge_cost(case: Case, port: Recording) -> list[str]:
    paid = cost(port, case.backwards_per_step)
    wrong = []
    if paid.steps < ENOUGH_STEPS:
        wrong.append(f"only {paid.steps} plain training steps after warm-up: too few to judge")
    if paid.executions_per_step < 0.5:  # far below 1, for the counter lags behind the device by a step
        wrong.append(f"the device ran {paid.executions_per_step:.2f} programs per step: a step boundary is missing")
    if paid.compiles > case.compiles:
        wrong.append(f"{paid.compiles} compiles in plain steps after warm-up, at most {case.compiles} expected")
    if paid.transfers_per_step > case.transfers_per_step:
        wrong.append(
            f"{paid.transfers_per_step:.2f} device-to-host transfers per step,"
            f" at most {case.transfers_per_step} expected: {case.because}"
        )
    return wrong
