"""What a script was seen to do on XLA: run once, then kept in a file, since running takes a hundred times as long."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from measuring.phases import Phases
from measuring.scripts import REPOSITORY, Script, environment_of, lay_out, recipe_files

_FORMAT = 1
_ENOUGH = 4
"""Steps by which a script can be judged: graphs may change in the first three."""
_TOO_LONG = "took too long"
PORT = "TPU0,TPU210,TPU3,TPU4,TPU6,TPU7,TPU8,TPU9"
"""What is fixed before a script is run: all that keeps it from running on XLA, but no read and no changing graph."""


class Ran(NamedTuple):
    """A line that ran in the turns of a loop."""

    path: str
    row: int
    loop: int
    """Index into ``Truth.loops``; -1 for none."""
    times: int
    steps: tuple[int, ...]


class Cost(NamedTuple):
    """A line that made the host wait, or a graph be compiled."""

    path: str
    row: int
    kind: str
    """``sync``, ``transfer``, ``fallback`` or ``compile``."""
    loop: int
    times: int
    steps: tuple[int, ...]
    callers: tuple[tuple[str, int], ...]
    """Lines of the user's code that led there."""
    causes: tuple[str, ...] = ()
    """Of compilations: what changed."""
    text: str = ""


class Loop(NamedTuple):
    """A loop that trains or evaluates."""

    path: str
    row: int
    kind: str
    """``step`` or ``evaluation``."""
    turns: int
    steps: tuple[int, ...]


class Truth(NamedTuple):
    """Everything that was seen."""

    name: str
    steps: int
    ending: str
    error: str
    versions: dict[str, str]
    loops: tuple[Loop, ...]
    ran: tuple[Ran, ...]
    costs: tuple[Cost, ...]
    uneven_loaders: tuple[tuple[str, int], ...]
    """Where data loaders are built whose last batch is smaller than the others."""
    even_loaders: tuple[tuple[str, int], ...]
    backwards: tuple[tuple[str, int], ...] = ()
    """By kind of device, the number of steps in which a backward pass ran there; empty where that was not noted."""

    @property
    def is_whole(self) -> bool:
        """Whether the script was left to come to its end, whatever that was."""
        return self.ending == "finished" and not self.error.startswith(_TOO_LONG)

    @property
    def is_usable(self) -> bool:
        """Whether enough was seen to judge by: a script that trains on the host reads nothing from the device."""
        on_device = dict(self.backwards).get("xla", 0) if self.backwards else self.steps
        return self.steps >= _ENOUGH and on_device >= max(_ENOUGH, self.steps / 2) and bool(self.ran)


class Store:
    """Truths in a folder: for each script its ported text (``source``) and what was seen (``truth.json``)."""

    def __init__(self, folder: Path, snapshots: Path | None, recipes: Path | None, python: str) -> None:
        self._folder = folder
        self._snapshots = snapshots
        self._recipes = recipes
        self._python = python

    def source(self, script: Script) -> Path:
        """The folder with the text that ran."""
        return self._folder / script.name / "source"

    def load(self, script: Script) -> Truth | None:
        """What was seen of a script, if it was run as it is now."""
        path = self._folder / script.name / "truth.json"
        if not path.exists():
            return None
        data = json.loads(path.read_text(encoding="utf-8"))
        return _read(data["truth"]) if data["key"] == self._key(script) else None

    def observe(self, script: Script, timeout: float) -> Truth:
        """Port and run it, and keep what was seen."""
        folder = self._folder / script.name
        shutil.rmtree(folder, ignore_errors=True)
        root = folder / "source"
        root.mkdir(parents=True)
        cwd = lay_out(script, root, self._snapshots)
        if not script.is_ported:
            _port(root)
        before = {path: path.read_bytes() for path in root.rglob("*.py")}
        truth = self._run(script, root, cwd, timeout)
        for path, data in before.items():  # what the script has written is no part of its text
            if not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)
        kept = {"key": self._key(script), "truth": truth._asdict()}
        (folder / "truth.json").write_text(json.dumps(kept, separators=(",", ":")), encoding="utf-8")
        return truth

    def _key(self, script: Script) -> str:
        """Changes with the script, its arguments, and the recipe of its data."""
        fields = {name: value for name, value in script._replace(folder="", group="")._asdict().items()
                  if value != Script._field_defaults.get(name)}  # fmt: skip
        digest = hashlib.sha256(repr((_FORMAT, PORT, sorted(fields.items()))).encode())
        for path in recipe_files(script, self._recipes):
            digest.update(path.read_bytes())
        if script.folder:
            digest.update((Path(script.folder) / script.script).read_bytes())
        return digest.hexdigest()[:16]

    def _run(self, script: Script, root: Path, cwd: Path, timeout: float) -> Truth:
        from tpulint.verification import environment
        from tpulint.verification.process import Task, run

        interpreter = environment.find(self._python)
        with tempfile.TemporaryDirectory(prefix="tpulint-truth-") as records:
            task = Task(
                str(cwd / script.script), script.arguments, interpreter.path, environment.observer_script(),
                records, script.max_steps, timeout, compare=True, coverage=True,
            )  # fmt: skip
            with _surroundings(cwd, environment_of(script, cwd, root, self._recipes)):
                done = run(task)
            versions = {"torch": interpreter.torch, "torch_xla": interpreter.torch_xla}
            return _reduce(script, done, root, versions)


@contextmanager
def _surroundings(cwd: Path, environment: dict[str, str]) -> Iterator[None]:
    """The working directory and environment of a run."""
    here, before = os.getcwd(), dict(os.environ)
    os.chdir(cwd)
    os.environ.update(environment)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)


def _port(root: Path) -> None:
    """Let the linter make it run on XLA, with its reads and changing graphs still in it."""
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(str(REPOSITORY / name) for name in (".", "rules", "runtime")),
    }  # fmt: skip
    command = [sys.executable, "-m", "tpulint", "check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes",
               "--select", PORT, "."]  # fmt: skip
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"the linter failed: {done.stdout[-500:]}{done.stderr[-500:]}")


def _reduce(script: Script, done: Any, root: Path, versions: dict[str, str]) -> Truth:
    from tpulint.verification.compiles import compilations
    from tpulint.verification.failures import how_it_ended, was_stopped

    process = done.recording.training
    wrong = [one.text for one in how_it_ended(done, os.getcwd())]
    if done.timed_out:
        wrong = [_TOO_LONG]
    phases = Phases(process, root.resolve())
    costs = [*_reads(process, phases), *recompilations(compilations(done.recording), phases)]
    loaders = {kind: _places(process, phases, kind) for kind in ("uneven-loader", "loader")}
    last = _last_line(done.output) if wrong else ""
    return Truth(
        script.name, process.steps, "stopped" if was_stopped(done.recording) else "finished",
        "; ".join([*wrong, last])[:300], versions, tuple(phases.loops), tuple(phases.ran()), tuple(costs),
        loaders["uneven-loader"], loaders["loader"], _backwards(process),
    )  # fmt: skip


def _backwards(process: Any) -> tuple[tuple[str, int], ...]:
    steps: dict[str, set[int]] = {}
    for device, step in process.backwards:
        steps.setdefault(device, set()).add(step)
    return tuple((device, len(found)) for device, found in sorted(steps.items()))


def _last_line(path: str) -> str:
    lines = Path(path).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def _places(process: Any, phases: Phases, kind: str) -> tuple[tuple[str, int], ...]:
    found = {one.places[0] for one in process.happenings if one.kind == kind and one.places}
    return tuple(sorted((phases.relative(path), row) for path, row in found))


def _reads(process: Any, phases: Phases) -> Iterable[Cost]:
    from tpulint.verification.costs import kind_of

    groups: dict[tuple[str, int, str, int], list[Any]] = {}
    for work in process.works:
        kind = kind_of(work)
        if kind and work.line is not None:
            loop = phases.loop_of(work.line.path, work.line.row, work.chain)
            groups.setdefault((work.line.path, work.line.row, kind, loop), []).append(work)
    for (path, row, kind, loop), works in groups.items():
        times = sum(max(work.launches, work.reads) for work in works)
        steps = tuple(sorted({work.in_step for work in works}))
        callers = {place for work in works for place in phases.callers(work.chain)}
        yield Cost(phases.relative(path), row, kind, loop, times, steps, tuple(sorted(callers)))


def recompilations(compiled: Iterable[Any], phases: Phases) -> Iterable[Cost]:
    """Lines that changed a graph past the first steps, by loop."""
    from tpulint.verification.compiles import WARM_UP

    groups: dict[tuple[str, int, int], list[Any]] = {}
    for one in compiled:
        if not one.is_expected and one.line is not None and one.work.in_step > WARM_UP:
            loop = _loop_of_change(one, phases)
            groups.setdefault((one.line.path, one.line.row, loop), []).append(one)
    for (path, row, loop), group in groups.items():
        causes = tuple(dict.fromkeys(one.cause.kind for one in group if one.cause))
        text = next((one.cause.text for one in group if one.cause), "")
        steps = tuple(sorted({one.work.in_step for one in group}))
        launching = {(phases.relative(one.work.line.path), one.work.line.row) for one in group if one.work.line}
        chains = {one.work.chain for one in group if one.work.line == one.line}
        yield Cost(
            phases.relative(path), row, "compile", loop, len(group), steps,
            tuple(sorted(launching | {place for chain in chains for place in phases.callers(chain)})), causes, text,
        )  # fmt: skip


def _loop_of_change(one: Any, phases: Phases) -> int:
    """The loop in which a line made another graph: of those it runs in, the one whose turn launched the graph."""
    work, line = one.work, one.line
    loops = phases.loops_of(line.path, line.row)
    launched = -1 if work.line is None else phases.loop_of(work.line.path, work.line.row, work.chain)
    return launched if launched in loops else max(loops, default=-1)


def _read(data: dict[str, Any]) -> Truth:
    places = {name: tuple((path, row) for path, row in data[name]) for name in ("uneven_loaders", "even_loaders")}
    return Truth(
        **{
            **data,
            **places,
            "loops": tuple(Loop(*one[:4], tuple(one[4])) for one in data["loops"]),
            "ran": tuple(Ran(*one[:4], tuple(one[4])) for one in data["ran"]),
            "backwards": tuple((device, steps) for device, steps in data.get("backwards", ())),
            "costs": tuple(
                Cost(*one[:5], tuple(one[5]), tuple((path, row) for path, row in one[6]), tuple(one[7]), one[8])
                for one in data["costs"]
            ),
        }
    )
