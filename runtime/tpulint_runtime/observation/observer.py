"""Puts the parts together: one observer per process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from multiprocessing import util
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from tpulint_runtime.graphs import Place
from tpulint_runtime.observation import absorbed_cuda, comparable, processes, script
from tpulint_runtime.observation.boundaries import Boundaries
from tpulint_runtime.observation.compiled import CompiledGraphs, Launcher
from tpulint_runtime.observation.counters import Counters, Work, loaded_xla
from tpulint_runtime.observation.coverage import Coverage
from tpulint_runtime.observation.cuda_calls import CudaCalls, watch_bfloat16
from tpulint_runtime.observation.graphs import GraphDumps
from tpulint_runtime.observation.lines import LineTracer, rows_of
from tpulint_runtime.observation.records import Records
from tpulint_runtime.observation.training import Training
from tpulint_runtime.ownership import Line, Ownership


class Wishes(NamedTuple):
    """What is to be observed, and how."""

    script: str
    folder: str
    """Where the records are written."""
    max_steps: int = 0
    """Steps after which the script is stopped; 0 for none."""
    compare: bool = False
    """Whether losses are kept, and random numbers made comparable."""
    reference: bool = False
    """Whether CUDA is absorbed and XLA left out: the original on the CPU."""
    drop_last: bool = False
    """Whether incomplete last batches are left out."""
    causes: bool = True
    """Whether the text of compiled graphs is kept."""
    coverage: bool = False
    """Whether every line that runs is written down, with its steps and callers: it makes Python slower."""
    hang_at: float = 0
    """Time since the epoch when the stack is written down, for a report about a hang; 0 for never."""


class Observer:
    """Watches one process."""

    def __init__(self, wishes: Wishes) -> None:
        self._wishes = wishes
        self._records = Records(wishes.folder)
        self._ownership = Ownership(wishes.script)
        self._counters = Counters()
        self._dumps = GraphDumps(wishes.folder)
        self._compiled = CompiledGraphs()
        self._graphs = 0
        """Graphs that were compiled."""
        self._boundaries = Boundaries(self._counters, self._charge, self._after_boundary)
        self._coverage = Coverage(self._records, self._in_step) if wishes.coverage else None
        self._tracer = LineTracer(
            self._ownership, self._counters, self._charge, self._boundaries.install, self._coverage
        )  # fmt: skip
        self._training = Training(
            self._records, wishes.max_steps, wishes.compare, self._stop_at_limit, self._on_backward, self._admit,
            self._on_update,
        )  # fmt: skip
        self._is_finished = False
        self._is_registered = False

    def install(self) -> None:
        """Prepare this process."""
        wishes = self._wishes
        self._records.write("start", pid=os.getpid(), parent=os.getppid())
        if wishes.hang_at:
            self._records.write_stack_at(wishes.hang_at)
        if wishes.compare:
            comparable.install(wishes.drop_last, lambda: self._records.write("dropping"))
            watch_bfloat16(lambda: self._records.write("bfloat16"))
        if wishes.reference:
            absorbed_cuda.install()
        else:
            CudaCalls(self._own_line, self._notice_cuda).install()
        self._training.install()
        if self._coverage is not None:
            self._coverage.install(self._ownership)
        processes.follow_spawned()
        processes.follow_forked(self._restart_in_fork)
        processes.notice_started(lambda command: self._records.write("process", command=command))
        leave = os._exit

        def leave_told(status: int) -> None:
            self.finish("os._exit", status)
            leave(status)

        os._exit = leave_told  # type: ignore[assignment]
        self._leave = leave

    def aim(self, script: str, folder: str) -> None:
        """Observe another script from now on, in the same process."""
        self._records.reopen(folder)
        self._ownership = Ownership(script)
        self._tracer.aim(self._ownership)
        self._dumps.skip()
        self._compiled = CompiledGraphs()
        self._training.restart()
        self._counters.skip()
        self._is_finished = False

    def start(self) -> None:
        """Begin to follow lines."""
        if self._wishes.reference:
            return
        if self._wishes.causes:
            self._dumps.ask()
        self._boundaries.tracer = self._tracer
        self._tracer.start()

    def finish(self, how: str, status: int = 0, error: str = "", line: Line | None = None) -> None:
        """Write down how it ended, and what can be read only now. Only the first call does."""
        if self._is_finished or self._records.pid != os.getpid():
            return
        self._is_finished = True
        self._tracer.settle()
        self._tracer.stop()
        self._boundaries.tracer = None
        if self._coverage is not None:
            self._coverage.write()
        self._records.flush()
        self._records.write(
            "end", how=how, status=status, error=error[:2000], line=list(line) if line else None,
            steps=self._training.steps, backwards=self._training.backwards, xla=loaded_xla() is not None,
        )  # fmt: skip
        if self._training.backwards:
            self._read_results()
        self._records.write("closed")

    def line_of(self, trace: TracebackType | None) -> Line | None:
        """The innermost line of the user's code in a traceback."""
        return self._ownership.innermost(trace)

    def _read_results(self) -> None:
        torch_xla: Any = sys.modules.get("torch_xla")
        try:
            if torch_xla is not None and loaded_xla() is not None:
                torch_xla.sync()  # one graph for all that is pending, instead of one for each value
            if self._wishes.compare:
                self._records.write("losses", values=self._training.read_losses())
            self._records.write("optimizers", optimizers=self._training.optimizers.describe())
        except Exception as error:
            self._records.write("note", text=f"values could not be read at the end: {type(error).__name__}: {error}")

    def _charge(self, line: Line | None, work: Work, is_boundary: bool) -> None:
        try:
            self._write_work(line, work, is_boundary)
        except Exception as error:
            self._admit(error)

    def _admit(self, error: Exception) -> None:
        """A failure of the observer is no failure of the script."""
        self._records.write("note", text=f"the observer failed: {type(error).__name__}: {error}")

    def _write_work(self, line: Line | None, work: Work, is_boundary: bool) -> None:
        graphs: list[str] = []
        if work.compiles:
            graphs = self._dumps.new_graphs()
        elif work.launches:
            self._dumps.trim()
        amounts = {
            "launches": work.launches, "boundaries": work.boundaries, "compiles": work.compiles, "reads": work.reads,
            "scalars": work.scalars,
        }  # fmt: skip
        step = self._training.steps
        launcher = (line, is_boundary, self._tracer.chain)
        key = ("work", line, is_boundary, bool(work.compiles), work.fallbacks, self._tracer.chain)
        self._records.add(
            "work", key, amounts, line=list(line) if line else None, boundary=is_boundary, step=step,
            backward=self._training.backwards, fallbacks=dict(work.fallbacks),
            graphs=[self._write_graph(text, launcher, position) for position, text in enumerate(graphs)],
            **self._reached_by(),
        )  # fmt: skip

    def _reached_by(self) -> dict[str, int]:
        return {} if self._coverage is None else {"chain": self._tracer.chain}

    def _in_step(self) -> int:
        return self._training.in_step

    def _on_backward(self) -> None:
        self._register_at_exit()
        if self._coverage is not None:
            self._coverage.note_event("backward")

    def _on_update(self) -> None:
        if self._coverage is not None:
            self._coverage.note_event("update")
            self._coverage.write()  # a script that is stopped writes nothing at its end

    def _write_graph(self, text: str, launcher: Launcher, position: int) -> int:
        """Write down why a graph was compiled; its number."""
        self._graphs += 1
        try:
            compiled = self._compiled.compare(text, launcher, position)
            if compiled is not None:
                cause = compiled.cause
                self._records.write(
                    "graph", number=self._graphs, cause=[cause.kind, cause.text] if cause else None,
                    lines=rows_of(self._lines_of(cause.places)) if cause else [],
                )  # fmt: skip
        except Exception as error:
            self._admit(error)
        return self._graphs

    def _lines_of(self, places: Iterable[Place]) -> list[Line]:
        """Operations of libraries know the line of the library: whose call led there is known here."""
        lines: dict[Line, None] = {}
        for place in places:
            own = self._ownership.find(place.path)
            callers = [Line(own, place.row, "")] if own else self._tracer.callers_of(place.path, place.row)
            lines |= dict.fromkeys(callers)
        return sorted(lines)

    def _after_boundary(self) -> None:
        if self._training.steps and self._training.optimizers.wants_look():
            try:
                self._training.optimizers.look()
            except Exception as error:
                self._admit(error)
            self._counters.skip()

    def _own_line(self, frame: FrameType) -> Line | None:
        path = self._ownership.path_of(frame.f_code)
        return Line(path, frame.f_lineno, frame.f_code.co_qualname) if path else None

    def _notice_cuda(self, line: Line, name: str) -> None:
        self._records.add("cuda", ("cuda", line, name), {"count": 1}, line=list(line), name=name)

    def _stop_at_limit(self) -> None:
        self.finish("max-steps")
        sys.stdout.flush()
        sys.stderr.flush()
        self._leave(0)

    def _register_at_exit(self) -> None:
        """Processes of multiprocessing leave without the end of a script, and forget what was registered before."""
        if not self._is_registered:
            self._is_registered = True
            util.Finalize(None, self.finish, args=("finished",), exitpriority=100)

    def _restart_in_fork(self) -> None:
        """In a process that was forked off."""
        self._records.reopen()
        if self._coverage is not None:
            self._coverage.restart()
        self._training.restart()
        self._is_finished = self._is_registered = False


def observe() -> None:
    """Run the script that the environment names, observed. Called in a process made for it."""
    wishes = wishes_of_environment()
    main = script.prepare(wishes.script, sys.argv[1:])
    observer = Observer(wishes)
    observer.install()
    observer.start()
    ending = script.run(main)
    observer.finish(ending.how, ending.status, ending.error, observer.line_of(ending.trace))
    sys.exit(ending.status)


def observe_spawned() -> None:
    """Observe a process that the script has spawned."""
    observer = Observer(wishes_of_environment())
    observer.install()
    observer.start()


def wishes_of_environment() -> Wishes:
    """What the parent process wants to know."""
    return Wishes(**json.loads(os.environ[processes.VARIABLE]))
