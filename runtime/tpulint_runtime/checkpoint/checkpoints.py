"""Checkpoints of a training: written beside it, found again, and continued from."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Collection
from types import TracebackType
from typing import Any, Literal, Self

import torch

from tpulint_runtime.backend import Backend, Place, current
from tpulint_runtime.checkpoint import randomness, state
from tpulint_runtime.checkpoint.errors import CheckpointError, CheckpointWarning
from tpulint_runtime.checkpoint.folder import SHARED, Entry, Folder, state_name
from tpulint_runtime.checkpoint.manifest import Manifest
from tpulint_runtime.checkpoint.preemption import Notice, Preempted
from tpulint_runtime.checkpoint.search import Found, Search
from tpulint_runtime.checkpoint.storage import storage_of
from tpulint_runtime.checkpoint.writer import Writer
from tpulint_runtime.settings import check_names, checked_count


class Checkpoints:
    """The checkpoints of one training, in a folder of its own.

    path
        A folder, or a URL for fsspec (``gs://bucket/run``), that every process sees.
    keep
        How many whole checkpoints are kept. With 1, there is none to fall back to.
    every
        Steps from one checkpoint to the next, for :meth:`is_due`. None: only SIGTERM makes one due.
    per_process
        Names of the parts that are not the same in all processes, such as the model and optimizer of FSDP, or a loader
        with a state: each process writes its own. Of all others, the first process writes its own for all.
    damaged
        What :meth:`resume` does when there are checkpoints, and all of them are damaged: ``raise`` CheckpointError, or
        ``start`` from the beginning. One whose writing was interrupted is not damaged.
    notice_every
        With several processes, steps between two times that they ask each other whether SIGTERM has come, for they have
        to save the same step. A process alone looks in every step.

    Call :meth:`resume` once, :meth:`is_due` and :meth:`save` at the end of each step, in all processes. ``with`` waits
    for the last checkpoint at its end. Steps count from 0.

    Raises ValueError for numbers and words that cannot be, TypeError for what is no number, ImportError for a URL where
    fsspec, or its part for it, is not installed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        keep: int = 3,
        every: int | None = 1000,
        per_process: Collection[str] = (),
        damaged: Literal["raise", "start"] = "raise",
        notice_every: int = 10,
    ) -> None:
        check_names("per_process", per_process)
        if not os.fspath(path):
            raise ValueError("path is empty: give a folder, or a URL")
        if damaged not in ("raise", "start"):
            raise ValueError(f"damaged is {damaged!r}, not raise or start")
        self.keep = checked_count("keep", keep, 1)
        self.every = None if every is None else checked_count("every", every, 1)
        self.per_process = frozenset(per_process)
        self.damaged = damaged
        self.notice_every = checked_count("notice_every", notice_every, 1)
        self.written: int | None = None
        """The last step of which this process has written its files, or that it resumed from. They will not be lost."""
        self._folder = Folder(storage_of(path))
        self._writer = Writer()
        self._notice = Notice()
        self._parts: dict[str, Any] = {}
        self._backend: Backend | None = None
        self._place = Place(0, 1)
        self._run = 1
        self._saved: int | None = None
        self._passed_over: set[Entry] = set()
        self._is_ending = False

    # ---------------------------------------------------------------- beginning

    def resume(self, **parts: Any) -> int:
        """Loads the last whole checkpoint into ``parts``, which :meth:`save` saves from now on, and returns the number
        of the next step: 0 where there is no checkpoint.

        parts
            Anything with ``state_dict`` and ``load_state_dict``, under names of your choice: model, optimizer,
            scheduler, scaler, sampler. None is left out. Modules are on their device already.

        The random numbers of Python, numpy, torch and the device continue too. From here on SIGTERM makes a checkpoint
        due and does not end the process. Warns of each checkpoint that was passed over, and why.

        Raises CheckpointError if nothing can be written to the folder, if a part has no state or a saved one does not
        fit, if the number of processes differs, or if all checkpoints are damaged (see ``damaged``)."""
        self._parts = self._checked(parts)
        self._backend = _backend_of(self._parts)
        self._place = self._backend.place()
        problem = ""
        if self._place.rank == 0:
            try:
                self._folder.storage.prepare()
            except OSError as error:
                problem = f"nothing can be written to {self._folder.storage.location}: {error.strerror or error}"
        entries = self._folder.entries()
        answers = self._backend.gather(json.dumps([problem, entries]))
        problem, entries = json.loads(answers[0])  # the first process says what there is
        if problem:
            raise CheckpointError(problem)
        known = [Entry(*entry) for entry in entries]
        self._run = 1 + max((entry.run for entry in known), default=0)
        search = Search(self._folder, self._place, self._backend.gather)
        found = search.last_whole(known)
        self._passed_over = set(search.reasons)
        if found is None:
            search.begin_without(self.damaged)
        else:
            if found.processes != self._place.processes:
                raise CheckpointError(
                    f"{self._folder.show(found.entry)} was written by {found.processes} processes, and these are "
                    f"{self._place.processes}: their random numbers and own states cannot be divided anew"
                )
            self._put_back(found, self._parts, self._backend)
            randomness.restore(found.states["random"], self._backend)
            self.written = self._saved = found.entry.step
        if not self._notice.watch():
            warnings.warn(
                "not in the main thread: SIGTERM will end the process as ever, without a checkpoint",
                CheckpointWarning,
                stacklevel=2,
            )
        return 0 if found is None else found.entry.step + 1

    def load(self, **parts: Any) -> int:
        """Loads the last whole checkpoint into some of the parts that were saved, for an evaluation: random numbers and
        SIGTERM stay as they are, and nothing can be saved. A training may go on writing meanwhile.

        Returns the last step that the checkpoint has. Raises CheckpointError where there is none."""
        checked = self._checked(parts)
        backend = _backend_of(checked)
        before = None
        while True:
            search = Search(self._folder, backend.place(), lambda value: [value])
            found = search.last_whole(self._folder.entries())
            if found:
                self._put_back(found, checked, backend)
                return found.entry.step
            if search.reasons == before:  # else the training may have just replaced what was there
                told = "".join(f"\n  {entry.folder}: {reason}" for entry, reason in search.reasons.items())
                raise CheckpointError(f"there is no whole checkpoint in {self._folder.storage.location}{told}")
            before = search.reasons

    def _checked(self, parts: dict[str, Any]) -> dict[str, Any]:
        given = {name: part for name, part in parts.items() if part is not None}
        for name, part in given.items():
            state.check_part(name, part)
        return given

    def _put_back(self, found: Found, parts: dict[str, Any], backend: Backend) -> None:
        missing = [name for name in parts if f"part {name}" not in found.states]
        if missing:
            known = ", ".join(name.removeprefix("part ") for name in sorted(found.states) if name.startswith("part "))
            raise CheckpointError(f"{self._folder.show(found.entry)} has no {', '.join(missing)}; it has {known}")
        for name, part in parts.items():
            state.put_back(name, part, found.states[f"part {name}"])
        # A boundary of its own: else loading would be part of the first step, and that graph another one. It moves the
        # random numbers of the device on, so they come last.
        backend.sync()

    # ---------------------------------------------------------------- in the loop

    def is_due(self, step: int) -> bool:
        """Whether to save now that ``step`` is done: every ``every`` steps, and when SIGTERM has come. The same in all
        processes. Raises what went wrong with the writing of the last checkpoint."""
        self._writer.check()
        if self._place.processes == 1:
            self._is_ending = self._notice.came
        elif not self._is_ending and (step + 1) % self.notice_every == 0:
            self._ask()
        return self._is_ending or (self.every is not None and (step + 1) % self.every == 0)

    def save(self, step: int, done: int | None = None) -> None:
        """Saves the state after ``step``. Call it in all processes, behind the step boundary; gradients are not saved.

        done
            How many batches of the present epoch were trained, for batch samplers. By default every step is one.

        When this returns, the state is on the host, and a thread writes it while the training goes on. The checkpoint
        before is waited for. After SIGTERM the state is written at once, and this does not return: it raises
        :class:`Preempted`, and the process ends.

        Raises CheckpointError for a state that cannot be saved, and for what went wrong with the writing of the last
        checkpoint: disk full, for example. Older checkpoints are as they were."""
        if self._backend is None or not self._parts:
            raise CheckpointError("what is to be saved is not known: call resume first, with the parts")
        self._ask()
        began = time.monotonic()
        self._writer.wait()  # before the state is copied, for there is memory for one
        if step != self._saved:
            entry = Entry(self._run, step)
            states = self._states(step, done)
            own = Manifest(step, *self._place, self._backend.name, str(torch.__version__), {})
            self._saved = step
            self._writer.start(lambda: self._write(entry, states, own))
        if self._is_ending:
            self._writer.wait()
            self._notice.came = False
            print(f"SIGTERM: step {step} is saved, after {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
            raise Preempted(step)

    def _states(self, step: int, done: int | None) -> dict[str, Any]:
        """The files of this process, and what is to be in them, on the host."""
        assert self._backend is not None
        own: dict[str, Any] = {"random": randomness.capture(self._backend)}
        shared: dict[str, Any] = {}
        for name, part in self._parts.items():
            to = own if name in self.per_process else shared
            trained = done
            if done is None and state.counts_batches(part):
                trained = step % len(part) + 1
            to[f"part {name}"] = state.state_of(part, trained)
        files = {SHARED: shared, state_name(self._place.rank): own}
        writes_shared = self._place.rank == 0
        if not writes_shared and not self._backend.fetches_together():
            del files[SHARED]
        copied: dict[str, Any] = state.host_copy(files, self._backend)
        if not writes_shared:
            copied.pop(SHARED, None)
        return copied

    def _write(self, entry: Entry, states: dict[str, Any], own: Manifest) -> None:
        try:
            self._folder.write(entry, states, own)
        except CheckpointError:
            self._saved = None
            raise
        self.written = entry.step
        if own.rank == 0:
            try:
                self._folder.remove_old(self.keep, self._passed_over)
            except OSError as error:
                warnings.warn(f"an old checkpoint was not removed: {error}", CheckpointWarning, stacklevel=1)

    def _ask(self) -> None:
        """Whether SIGTERM has come to one of the processes. All of them ask."""
        if self._backend is not None and not self._is_ending:
            self._is_ending = "came" in self._backend.gather("came" if self._notice.came else "")

    # ---------------------------------------------------------------- ending

    @property
    def preempted(self) -> bool:
        """Whether SIGTERM has come to this process. To act on it in all of them, use :meth:`is_due`."""
        return self._notice.came

    def wait(self) -> None:
        """Returns when the last checkpoint is written. Raises CheckpointError if it could not be."""
        self._writer.wait()

    def close(self) -> None:
        """Waits for the last checkpoint, and handles SIGTERM as before. One that came and that no :meth:`save` has
        answered is sent again."""
        try:
            self._writer.wait()
        finally:
            self._notice.unwatch()
        if self._notice.came:
            self._notice.deliver()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
            return
        self._notice.unwatch()
        try:
            self._writer.wait()
        except CheckpointError as second:  # the first error is what the training ended with
            error.add_note(str(second))


def _backend_of(parts: dict[str, Any]) -> Backend:
    for part in parts.values():
        if isinstance(part, torch.nn.Module):
            return current(part)
    return current()
