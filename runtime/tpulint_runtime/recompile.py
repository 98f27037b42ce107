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

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal, get_args

from tpulint_runtime.backend import Backend, Counts, current
from tpulint_runtime.nested import Path, leaves, show
from tpulint_runtime.report import HostSync, InputChange, Layout, Recompilation, Report

Mode = Literal["record", "warn", "raise"]
Layouts = tuple[tuple[Path, Layout], ...]
"""Path and layout of every input of a step."""

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
    backend
        Where to count; by default ``current()`` when the guard is entered.

    What happens between a call of ``step`` and the next, or the end of the ``with`` block, belongs to that step. The
    block may be entered again, for the next epoch: counting goes on, and what happened in between is left out.
    Counters are of the process. The guard runs nothing on the device and reads nothing from it.

    Raises ValueError for a negative number or an unknown mode.
    """

    def __init__(
        self,
        *,
        budget: int | None = 0,
        sync_budget: int | None = 0,
        warmup: int = 3,
        mode: Mode = "warn",
        backend: Backend | None = None,
    ) -> None:
        if mode not in get_args(Mode):
            raise ValueError(f"mode is {mode!r}, not one of {', '.join(get_args(Mode))}")
        for name, number in (("budget", budget), ("sync_budget", sync_budget), ("warmup", warmup)):
            if number is not None and number < 0:
                raise ValueError(f"{name} is {number}, less than 0")
        self.budget = budget
        self.sync_budget = sync_budget
        self.warmup = warmup
        self.mode = mode
        self._backend = backend
        self._entered = False
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

        self._given = False
        """Whether the open step has a batch."""
        self._previous: dict[Path, Layout] = {}
        self._layouts: dict[Path, Layout] = {}
        """Of the batches of the step before and of this one."""
        self._seen_inputs: set[tuple[Path, Layout]] = set()
        """Every input of every step before this one."""
        self._seen_layouts: set[Layouts] = set()
        """All inputs together, likewise."""

    def __enter__(self) -> RecompileGuard:
        """Starts counting. Raises RuntimeError if the guard is entered already."""
        if self._entered:
            raise RuntimeError("this guard is entered already")
        if self._backend is None:
            self._backend = current()
        self._entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Ends the last step. Does not replace an exception that is on its way."""
        self._entered = False
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
        if not self._entered or self._backend is None:
            raise RuntimeError("step() is for the inside of the guard's `with` block")
        self._end_step()
        self._open = True
        self._given = batch is not None
        if self._given:
            self._layouts = _layouts(batch)
        self._baseline = self._backend.counts()

    @contextmanager
    def expected(self) -> Iterator[None]:
        """Leaves out what is compiled and read inside: a loss that is logged, an evaluation, a checkpoint."""
        backend = self._backend or current()
        before = backend.counts()
        try:
            yield
        finally:
            self._baseline = self._baseline.plus(backend.counts().since(before))

    def report(self) -> Report:
        """What the guard saw up to the end of the last completed step. May be asked at any time."""
        backend = self._backend or current()
        return Report(
            backend=backend.name,
            counted=backend.counts_work,
            steps=self._steps,
            warmup=self.warmup,
            layouts=len(self._seen_layouts),
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
        changes = self._input_changes() if self._given else None
        self._open = False
        self._steps += 1
        self._remember_inputs()
        if self._steps <= self.warmup:
            self._warm = self._warm.plus(work)
            return
        self._steady = self._steady.plus(work)
        complaints: list[tuple[object, str]] = []
        if work.compiles:
            complaints += self._note_recompilation(
                Recompilation(self._steps, work.compiles, work.compile_seconds, changes)
            )
        host_sync = HostSync(self._steps, work.reads, work.extra_launches, tuple(sorted(work.fallbacks)))
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
        return [(("recompilation", inputs), f"{event} [{total}]")]

    def _note_host_sync(self, event: HostSync) -> list[tuple[object, str]]:
        if len(self._host_syncs) < _KEPT:
            self._host_syncs.append(event)
        self._extra_launches += event.extra_launches
        self._waits += event.waits
        if self.sync_budget is None or self._waits <= self.sync_budget:
            return []
        total = f"{self._waits} host syncs after warm-up, budget {self.sync_budget}"
        return [(("host sync", event.fallbacks), f"{event} [{total}]")]

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

    def _input_changes(self) -> tuple[InputChange, ...]:
        """Inputs of the open step with a layout none had at that place. If only the combination is new, those that
        differ from the step before. Empty if the combination is known."""
        if tuple(self._layouts.items()) in self._seen_layouts:
            return ()
        now, before = self._layouts, self._previous
        changed = [path for path, layout in now.items() if (path, layout) not in self._seen_inputs]
        changed = changed or [path for path, layout in now.items() if before.get(path) != layout]
        changed += [path for path in before if path not in now]
        return tuple(InputChange(show(path), before.get(path), now.get(path)) for path in changed)

    def _remember_inputs(self) -> None:
        if not self._given:
            return
        self._seen_inputs.update(self._layouts.items())
        self._seen_layouts.add(tuple(self._layouts.items()))
        self._previous = self._layouts


def _layouts(batch: Any) -> dict[Path, Layout]:
    return {path: _layout(leaf) for path, leaf in leaves(batch)}


def _layout(leaf: Any) -> Layout:
    """Values are left out, also those of Python numbers: most of them are inputs of the graph, not part of it."""
    shape, dtype = getattr(leaf, "shape", None), getattr(leaf, "dtype", None)
    if shape is None or dtype is None:
        return Layout((), type(leaf).__name__)
    return Layout(tuple(int(size) for size in shape), str(dtype).removeprefix("torch."))
