"""A guard around the step loop: counts what is compiled and read after warm-up, and names the input that changed.

.. code-block:: python

    with RecompileGuard(budget=0, warmup=3, mode="raise") as guard:
        for batch in loader:
            guard.step(batch)            # first in the body
            loss = train_step(batch)
            torch_xla.sync()
            if step % 100 == 0:
                with guard.expected():   # a host sync that is meant
                    print(loss.item())
    print(guard.report())
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal, get_args

import torch

from tpulint_runtime.backend import Backend, Counts, current
from tpulint_runtime.calls import CallLog
from tpulint_runtime.differences import StepCalls
from tpulint_runtime.inputs import Inputs
from tpulint_runtime.nested import leaves
from tpulint_runtime.ownership import Ownership
from tpulint_runtime.report import HostSync, Recompilation, Report
from tpulint_runtime.settings import check_backend, checked_count

Mode = Literal["record", "warn", "raise"]
_KEPT = 100
"""Events of a kind that are kept; all are counted."""


class BudgetWarning(UserWarning):
    """More compilations or host syncs than the budget of a guard."""


class BudgetExceeded(RuntimeError):
    """More compilations or host syncs than the budget of a guard. ``report`` has what led to it."""

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


class RecompileGuard:
    """Counts compilations and host syncs of training steps.

    budget
        Compilations allowed after warm-up, in all. None: any number. With buckets, the number of buckets.
    sync_budget
        Host syncs allowed after warm-up, in all: device-to-host transfers, and graphs run without a step boundary
        asking for it. None: any number.
    warmup
        Steps in which everything is allowed. A step compiles twice by nature: with its first graph, and when the
        optimizer's state is an input for the first time.
    mode
        ``record``: for the report only. ``warn``: a ``BudgetWarning`` for each new cause beyond the budget.
        ``raise``: ``BudgetExceeded``.
    lines
        Watch the calls of torch, to tell which line of the script read a value, and which line made a graph another
        one: with what shape, or with which Python number. Every call then takes some microseconds longer.
    graphs
        In a :class:`Loop`, note the hash of the graph of each step. It takes some percent of the time of tracing it.
    backend
        Where to count; by default ``current()`` when the guard is entered.

    What happens between a call of ``step`` and the next, or the end of the ``with`` block, belongs to that step. The
    block may be entered again, for the next epoch: counting goes on, and what happened in between is left out.
    Counters are of the process. The guard runs nothing on the device and reads nothing from it.

    Raises ValueError for a negative number or an unknown mode, TypeError for what is no whole number.
    """

    def __init__(
        self,
        *,
        budget: int | None = 0,
        sync_budget: int | None = 0,
        warmup: int = 3,
        mode: Mode = "warn",
        lines: bool = False,
        graphs: bool = True,
        backend: Backend | None = None,
    ) -> None:
        if mode not in get_args(Mode):
            raise ValueError(f"mode is {mode!r}, not one of {', '.join(get_args(Mode))}")
        check_backend(backend)
        self.budget = None if budget is None else checked_count("budget", budget, 0)
        self.sync_budget = None if sync_budget is None else checked_count("sync_budget", sync_budget, 0)
        self.warmup = checked_count("warmup", warmup, 0)
        self.mode = mode
        self.lines = lines
        self.graphs = graphs
        self._backend = backend
        self.is_entered = False
        self._open = False
        """Whether a step has begun and not ended."""
        self._steps = 0
        """Steps that ended."""
        self._baseline = Counts()
        """Counters when the open step began, and what is expected since."""
        self._warm = Counts()
        """Work of the steps of warm-up."""
        self._steady = Counts()
        """Work of the steps after it."""
        self._extra_launches = 0
        self._waits = 0
        self._recompilations: list[Recompilation] = []
        self._host_syncs: list[HostSync] = []
        self._warned: set[object] = set()

        self._graph: str | None = None
        """Hash of the graph of the open step, if it is told."""
        self._graphs: set[str] = set()
        self._given = False
        """Whether the open step has a batch."""
        self._inputs = Inputs()
        self._log: CallLog | None = None
        """None where no lines are watched."""
        self._calls: StepCalls | None = None

    def __enter__(self) -> RecompileGuard:
        """Starts counting. Raises RuntimeError if the guard is entered already."""
        if self.is_entered:
            raise RuntimeError("this guard is entered already")
        if self._backend is None:
            self._backend = current()
        if self.lines and self._backend.counts_work:
            if self._log is None:
                self._log = CallLog(Ownership(_main_script(), anywhere=True), self._backend)
                self._calls = StepCalls(self._log)
            self._log.enter()
        self.is_entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Ends the last step. Does not replace an exception that is on its way."""
        self.is_entered = False
        if self._log is not None:
            self._log.leave()
        try:
            self._end_step()
        except BudgetExceeded:
            if error is None:
                raise

    def step(self, batch: Any = None) -> None:
        """Ends the step before and begins one that trains on ``batch``; to be called first in the body of the loop.

        ``batch`` is any nesting of mappings, tuples and lists of tensors (or arrays), on any device; only shapes and
        dtypes are looked at, nothing is read. A loader that holds the step boundary runs it before this call: what the
        boundary costs still belongs to the step before.

        Raises ``BudgetExceeded`` for the step before, in mode ``raise``; RuntimeError outside of the ``with`` block.
        """
        if not self.is_entered or self._backend is None:
            raise RuntimeError("step() is for the inside of the guard's `with` block")
        self._end_step()
        self._open = True
        self._graph = None
        self._given = batch is not None
        if self._given:
            self._inputs.begin_step(batch)
        if self._log is not None:
            self._log.begin()
        self._baseline = self._backend.counts()

    def hash_graph(self, *using: Any) -> None:
        """Notes which graph the open step is; to be called before its boundary, with what is computed.

        ``using`` are tensors, modules (their parameters) or nestings of them: ``guard.hash_graph(loss, model)``.
        Nothing is run. A :class:`Loop` calls it for a guard among its callbacks. The report then tells how many graphs
        there were, and which one a compiled step had."""
        if self._backend is None or not self._open or not self._backend.counts_work:
            return
        tensors = [
            tensor
            for _, leaf in leaves(using)
            for tensor in (leaf.parameters() if isinstance(leaf, torch.nn.Module) else [leaf])
            if isinstance(tensor, torch.Tensor) and tensor.device.type == self._backend.name
        ]
        told = self._backend.graph_hash(tensors) if tensors else None
        if told is None:
            return
        if self._graph is None or told not in self._graphs:
            self._graph = told  # of several, such as those of accumulated batches, one that is new
        self._graphs.add(told)

    # A training loop calls these.

    def on_train_begin(self, loop: Any = None) -> None:
        """Enters the guard."""
        self.__enter__()

    def on_step_begin(self, batch: Any = None) -> None:
        """Ends the step before and begins one."""
        self.step(batch)

    def on_boundary(self, *computed: Any) -> None:
        """Notes the graph that ends here."""
        if self.graphs:
            self.hash_graph(*computed)

    def on_epoch_end(self) -> None:
        """Ends the last step of an epoch: what comes before the next is left out."""
        self._end_step()

    def on_train_end(self) -> None:
        """Leaves the guard. Does not replace an exception that is on its way."""
        error = sys.exception()
        self.__exit__(type(error) if error else None, error, None)

    @contextmanager
    def expected(self) -> Iterator[None]:
        """Leaves out what is compiled and read inside: a loss that is logged, an evaluation, a checkpoint."""
        backend = self._backend or current()
        before = backend.counts()
        was_on = self._log is not None and self._log.is_on
        if self._log is not None:
            self._log.is_on = False
        try:
            yield
        finally:
            if self._log is not None:
                self._log.is_on = was_on
            self._baseline = self._baseline.plus(backend.counts().since(before))

    def report(self) -> Report:
        """What the guard saw up to the end of the last completed step. May be asked at any time."""
        backend = self._backend or current()
        return Report(
            backend=backend.name,
            counted=backend.counts_work,
            steps=self._steps,
            warmup=self.warmup,
            layouts=self._inputs.different,
            graphs=len(self._graphs) if self._graphs else None,
            warmup_compiles=self._warm.compiles,
            compiles=self._steady.compiles,
            compile_seconds=self._warm.compile_seconds + self._steady.compile_seconds,
            reads=self._steady.reads,
            extra_launches=self._extra_launches,
            waits=self._waits,
            budget=self.budget,
            sync_budget=self.sync_budget,
            recompilations=tuple(self._recompilations),
            host_syncs=tuple(self._host_syncs),
        )

    def _end_step(self) -> None:
        if not self._open or self._backend is None:
            return
        work = self._backend.counts().since(self._baseline)
        changes = self._inputs.changes() if self._given else None
        difference, calls = self._calls.end_step(bool(work.compiles)) if self._calls is not None else (None, ())
        self._open = False
        self._steps += 1
        if self._given:
            self._inputs.end_step()
        if self._steps <= self.warmup:
            self._warm = self._warm.plus(work)
            return
        self._steady = self._steady.plus(work)
        complaints: list[tuple[object, str]] = []
        if work.compiles:
            complaints += self._note_recompilation(
                Recompilation(self._steps, work.compiles, work.compile_seconds, changes, difference, self._graph)
            )
        host_sync = HostSync(self._steps, work.reads, work.extra_launches, tuple(sorted(work.fallbacks)), calls)
        if host_sync.waits:
            complaints += self._note_host_sync(host_sync)
        self._complain(complaints)

    def _note_recompilation(self, event: Recompilation) -> list[tuple[object, str]]:
        if len(self._recompilations) < _KEPT:
            self._recompilations.append(event)
        if self.budget is None or self._steady.compiles <= self.budget:
            return []
        total = f"{self._steady.compiles} after warm-up, budget {self.budget}"
        inputs = None if event.changes is None else tuple(change.where for change in event.changes)
        return [(("recompilation", inputs, event.line), f"{event} [{total}]")]

    def _note_host_sync(self, event: HostSync) -> list[tuple[object, str]]:
        if len(self._host_syncs) < _KEPT:
            self._host_syncs.append(event)
        self._extra_launches += event.extra_launches
        self._waits += event.waits
        if self.sync_budget is None or self._waits <= self.sync_budget:
            return []
        total = f"{self._waits} host syncs after warm-up, budget {self.sync_budget}"
        return [(("host sync", event.fallbacks, event.calls), f"{event} [{total}]")]

    def _complain(self, complaints: list[tuple[object, str]]) -> None:
        if not complaints or self.mode == "record":
            return
        if self.mode == "raise":
            raise BudgetExceeded("\n".join(message for _, message in complaints), self.report())
        for cause, message in complaints:
            if cause not in self._warned:  # a cause that comes back every step would bury everything else
                self._warned.add(cause)
                # Four calls up: _complain, _end_step, step (or __exit__), the training script.
                warnings.warn(message, BudgetWarning, stacklevel=4)


def _main_script() -> str:
    """The file that this process runs, which is the user's own even if it is an installed one."""
    return getattr(sys.modules.get("__main__"), "__file__", None) or "<none>"
