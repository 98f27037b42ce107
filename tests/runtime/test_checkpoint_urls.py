"""Checkpoints behind a URL: a storage that is slow, shows halves of files, remembers old listings, and fails."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import fsspec
import pytest
import torch
from fsspec.implementations.memory import MemoryFile, MemoryFileSystem
from tpulint_runtime import CheckpointError, Checkpoints, CheckpointWarning

pytestmark = pytest.mark.xla  # where torch is, torch_xla is

PIECE = 2000
"""Bytes of an upload that arrive at once."""


class Refused(Exception):
    """What a client of an object store raises for an answer of its server: no OSError."""


class Upload(MemoryFile):
    """A file whose pieces are seen as they arrive: what was there before is gone with the first of them."""

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        for at in range(0, len(view), PIECE):
            self.fs.happen()
            super().write(view[at : at + PIECE])
        return len(view)


class Remote(MemoryFileSystem):
    """A storage elsewhere, without a rename. Everything that changes it is counted, and may be the last that works."""

    protocol = "remote"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    cachable = False

    changes = 0
    fails: ClassVar[range] = range(0)
    """The changes, by number, that do not come to pass."""
    latency = 0.0
    listings: ClassVar[dict[str, Any]] = {}

    @classmethod
    def happen(cls) -> None:
        """A change is about to be made."""
        cls.changes += 1
        if cls.latency:
            time.sleep(cls.latency)
        if cls.changes - 1 in cls.fails:
            raise Refused(f"503 at change {cls.changes - 1}")

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode != "wb":
            return super()._open(path, mode, **options)
        self.happen()
        file = Upload(self, path)
        file._committed = True
        self.store[path] = file
        return file

    def pipe_file(self, path: str, value: Any, **options: Any) -> None:
        self.happen()
        super().pipe_file(path, value, **options)

    def rm_file(self, path: str) -> None:
        self.happen()
        super()._rm(self._strip_protocol(path))

    def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        key = f"{path} {detail}"
        if key not in self.listings:
            self.listings[key] = super().ls(path, detail, **options)
        return self.listings[key]

    def invalidate_cache(self, path: str | None = None) -> None:
        self.listings.clear()


@pytest.fixture(autouse=True)
def storage() -> Iterator[type[Remote]]:
    fsspec.register_implementation("remote", Remote, clobber=True)
    Remote.store.clear()
    Remote.pseudo_dirs[:] = [""]
    Remote.listings.clear()
    Remote.changes, Remote.fails, Remote.latency = 0, range(0), 0.0
    yield Remote
    Remote.fails, Remote.latency = range(0), 0.0


class Weights:
    """A state that tells its step in every number of it."""

    def __init__(self) -> None:
        self.values = torch.zeros(500)

    def state_dict(self) -> Any:
        return {"values": self.values}

    def load_state_dict(self, given: Any) -> None:
        self.values = given["values"].clone()


def train(steps: int) -> tuple[int, str]:
    """Trains to the end, or as far as it gets: the last step that was said to be written, and what went wrong."""
    weights, checkpoints = Weights(), Checkpoints("remote://bucket/run", keep=2, every=1)
    promised, wrong = -1, ""
    try:
        first = checkpoints.resume(weights=weights)
        assert weights.values.tolist() == [float(first)] * 500, "a checkpoint of another step, or of several"
        promised = first - 1
        for step in range(first, steps):
            weights.values = weights.values + 1
            if checkpoints.is_due(step):
                checkpoints.save(step)
                checkpoints.wait()
            promised = checkpoints.written if checkpoints.written is not None else promised
        checkpoints.close()
    except CheckpointError as error:
        wrong = str(error)
        checkpoints._notice.unwatch()
    return promised, wrong


def changes_of(steps: int) -> int:
    """How many changes a training makes that nothing happens to."""
    assert train(steps) == (steps - 1, "")
    made = Remote.changes
    Remote.store.clear()
    Remote.changes = 0
    return made


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
def test_whatever_change_fails_no_torn_checkpoint_is_taken(lasting: bool) -> None:
    """One change fails, or all from it on, as when the process is killed: the next run has all that was promised."""
    warnings.simplefilter("ignore", CheckpointWarning)
    made = changes_of(4)
    assert made > 80, "some twenty pieces of each checkpoint"
    failed = 0
    for number in range(made):
        Remote.store.clear()
        Remote.pseudo_dirs[:] = [""]
        Remote.changes, Remote.fails = 0, range(number, 10**9) if lasting else range(number, number + 1)
        promised, wrong = train(4)
        failed += "503 at change" in wrong
        Remote.fails = range(0)
        weights = Weights()
        try:
            found = Checkpoints("remote://bucket/run").load(weights=weights)
        except CheckpointError:
            found = -1
        assert found >= promised, f"lost at change {number}"
        assert weights.values.tolist() == [found + 1.0] * 500, f"torn at change {number}"
        assert train(4) == (3, ""), f"not continued after change {number}"
    assert failed > 60, "what fails is told, but for what removes an old checkpoint"


def test_readers_find_whole_checkpoints_while_files_arrive_in_pieces() -> None:
    Remote.latency = 0.0005
    over, failures, found = threading.Event(), [], set()

    def read() -> None:
        try:
            while not over.is_set():
                weights = Weights()
                step = Checkpoints("remote://bucket/run").load(weights=weights)
                assert weights.values.tolist() == [step + 1.0] * 500
                found.add(step)
        except BaseException as error:
            failures.append(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CheckpointWarning)
        train(1)
        thread = threading.Thread(target=read)
        thread.start()
        try:
            assert train(25) == (24, "")
        finally:
            over.set()
            thread.join()
    assert failures == [] and len(found) > 2


def test_what_cannot_be_written_to_is_told_before_the_first_step() -> None:
    Remote.fails = range(10**9)
    with pytest.raises(CheckpointError, match=r"nothing can be written to remote://bucket/run: Refused: 503"):
        Checkpoints("remote://bucket/run").resume(weights=Weights())


def test_an_answer_that_is_no_oserror_while_reading_is_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    assert train(3) == (2, "")
    own = Remote.cat_file

    def refuse(self: Remote, path: str, *args: Any, **options: Any) -> Any:
        if "step-000000002" in path and path.endswith(".pt"):
            raise Refused("502")
        return own(self, path, *args, **options)

    monkeypatch.setattr(Remote, "cat_file", refuse)
    weights = Weights()
    with pytest.warns(
        CheckpointWarning, match=r"step-000000002: shared.pt cannot be read: Refused: 502; taken instead"
    ):
        assert Checkpoints("remote://bucket/run").load(weights=weights) == 1
    assert weights.values.tolist() == [2.0] * 500
