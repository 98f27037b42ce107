"""What a checkpoint holds, what damage does to it, and what it does where nothing can be written. On the CPU, without a
backward pass: gradients are made up."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import threading
import warnings
from collections import Counter, OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from tpulint_runtime import (
    BucketBatchSampler,
    CheckpointError,
    Checkpoints,
    CheckpointWarning,
    EpochBatchSampler,
    Preempted,
    backend,
)
from tpulint_runtime.backend import PlainBackend
from tpulint_runtime.backend.protocol import Place
from tpulint_runtime.checkpoint import randomness, state
from tpulint_runtime.checkpoint.storage import LocalStorage, UrlStorage

pytestmark = pytest.mark.xla  # where torch is, torch_xla is

CPU = PlainBackend(torch.device("cpu"))


class Training:
    """A model and its optimizer, whose gradients are drawn."""

    def __init__(self, seed: int = 0, dtype: torch.dtype = torch.float32) -> None:
        torch.manual_seed(seed)
        self.model = torch.nn.Sequential(torch.nn.Linear(3, 4, dtype=dtype), torch.nn.BatchNorm1d(4, dtype=dtype))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.1)
        self.scheduler = torch.optim.lr_scheduler.MultiStepLR(self.optimizer, [2, 4], gamma=0.5)

    @property
    def parts(self) -> dict[str, Any]:
        return {"model": self.model, "optimizer": self.optimizer, "scheduler": self.scheduler}

    def step(self) -> None:
        for parameter in self.model.parameters():
            parameter.grad = torch.randn_like(parameter)
        self.optimizer.step()
        self.scheduler.step()

    def bits(self) -> list[bytes]:
        tensors = [*self.model.state_dict().values()]
        for values in self.optimizer.state_dict()["state"].values():
            tensors += values.values()
        return [tensor.detach().reshape(-1).view(torch.uint8).numpy().tobytes() for tensor in tensors]


class Value:
    """A part that holds whatever it is given."""

    def __init__(self, value: Any = None) -> None:
        self.value = value

    def state_dict(self) -> Any:
        return {"value": self.value}

    def load_state_dict(self, given: Any) -> None:
        self.value = given["value"]


def write(folder: Any, steps: int = 4, **settings: Any) -> Training:
    """A training of some steps, each saved."""
    training = Training()
    with Checkpoints(folder, **settings) as checkpoints:
        for step in range(checkpoints.resume(**training.parts), steps):
            training.step()
            checkpoints.save(step)
    return training


def steps_in(folder: Path) -> list[int]:
    return sorted(int(path.name.rpartition("-")[2]) for path in folder.iterdir())


# ------------------------------------------------------------------------ what is restored


def test_resumed_training_goes_on_as_the_other(tmp_path: Path) -> None:
    first = write(tmp_path, 3)
    saved = first.bits()
    second = Training(seed=5)
    identities = [id(parameter) for parameter in second.model.parameters()]
    with Checkpoints(tmp_path) as checkpoints:
        assert checkpoints.resume(**second.parts) == 3
        assert second.bits() == saved
        assert [id(parameter) for parameter in second.model.parameters()] == identities
        assert second.scheduler.get_last_lr() == first.scheduler.get_last_lr() == [0.05]
        second.step()
    uninterrupted = write(tmp_path / "other", 4)
    assert second.bits() == uninterrupted.bits()


def test_optimizer_before_its_first_step_has_no_state_again(tmp_path: Path) -> None:
    write(tmp_path, 0)
    fresh = Training()
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(**fresh.parts)
        checkpoints.save(0)
    other = Training()
    other.step()
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(**other.parts)
    assert other.optimizer.state_dict()["state"] == {}


def test_moments_keep_their_dtype(tmp_path: Path) -> None:
    """``Optimizer.load_state_dict`` alone casts them to that of the parameters."""
    trainings = [Training(dtype=torch.bfloat16) for _ in range(2)]
    trainings[0].step()
    weight = trainings[0].model[0].weight
    trainings[0].optimizer.state[weight]["moment"] = torch.full_like(weight, 1 / 3, dtype=torch.float32)
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(optimizer=trainings[0].optimizer)
        checkpoints.save(0)
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(optimizer=trainings[1].optimizer)
    moment = trainings[1].optimizer.state[trainings[1].model[0].weight]["moment"]
    assert moment.dtype is torch.float32 and moment[0, 0].item() == torch.tensor(1 / 3).item()


def test_tied_weights_stay_tied_and_are_written_once(tmp_path: Path) -> None:
    def tied() -> torch.nn.ModuleList:
        layers = torch.nn.ModuleList([torch.nn.Linear(64, 64, bias=False), torch.nn.Linear(64, 64, bias=False)])
        layers[1].weight = layers[0].weight
        return layers

    model = tied()
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(model=model)
        checkpoints.save(0)
    (file,) = tmp_path.glob("*/shared.pt")
    assert 64 * 64 * 4 < file.stat().st_size < 1.5 * 64 * 64 * 4
    other = tied()
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(model=other)
    assert other[0].weight is other[1].weight and torch.equal(other[0].weight, model[0].weight)


def test_all_random_numbers_go_on(tmp_path: Path) -> None:
    def draw() -> list[float]:
        return [random.random(), random.gauss(0, 1), numpy.random.normal(), torch.rand(()).item()]

    random.seed(3)
    numpy.random.seed(3)
    torch.manual_seed(3)
    draw()  # an odd number of normal ones: the other half of the pair is kept in the state
    part = Value(1)
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(part=part)
        checkpoints.save(0)
        expected = [draw(), draw()]
        random.seed(4)
        numpy.random.seed(4)
        torch.manual_seed(4)
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(part=part)
    assert [draw(), draw()] == expected


def test_random_numbers_of_another_device_do_not_go_on_silently() -> None:
    captured = randomness.capture(CPU)
    with pytest.warns(CheckpointWarning, match="was written on xla, and this is cpu"):
        randomness.restore({**captured, "backend": "xla", "device": 7}, CPU)


def test_plain_values_come_back_as_they_are(tmp_path: Path) -> None:
    value = {
        "numbers": [1, 2**70, -1.5, float("inf"), 1j, True, None],
        "text": ("a", b"b"),
        2: {"set": {1, 2}, "counter": Counter("aab"), "ordered": OrderedDict(x=1)},
        "torch": [torch.Size([2, 3]), torch.bfloat16, torch.ones(2, dtype=torch.bfloat16), torch.zeros(0, 3)],
        "device": torch.device("cpu"),
    }
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(part=Value({**value, "numpy": numpy.float64(0.5)}))
        checkpoints.save(0)
    part = Value()
    assert Checkpoints(tmp_path).load(part=part) == 0
    assert part.value.pop("numpy") == 0.5
    tensors, expected = part.value["torch"][2:], value["torch"][2:]  # type: ignore[index]
    for one, other in zip(tensors, expected, strict=True):
        assert one.dtype == other.dtype and torch.equal(one, other)
    del part.value["torch"][2:], value["torch"][2:]  # type: ignore[attr-defined]
    assert part.value == value and type(part.value[2]["counter"]) is Counter


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda: 1, r"value'\]\[1\] is a builtins.function"),
        (numpy.ones(2), r"value'\]\[1\] is a numpy.ndarray"),
        ({Path("x"): 1}, "has a key of pathlib"),
    ],
)
def test_what_could_not_be_read_again_is_refused_when_saved(value: Any, message: str, tmp_path: Path) -> None:
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(part=Value([0, value]))
        with pytest.raises(CheckpointError, match=message):
            checkpoints.save(0)
    assert steps_in(tmp_path) == []


def test_later_changes_do_not_reach_what_is_being_written(tmp_path: Path) -> None:
    training = Training()
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(**training.parts)
        training.step()
        saved = training.bits()
        release = hold_writing(checkpoints)
        checkpoints.save(0)
        training.step()
        assert checkpoints.written is None, "the step waited for the file"
        assert training.bits() != saved
        release.set()
        checkpoints.wait()
        assert checkpoints.written == 0
    other = Training(1)
    Checkpoints(tmp_path).load(**other.parts)
    assert other.bits() == saved


def hold_writing(checkpoints: Checkpoints) -> threading.Event:
    """Writing starts when the event is set."""
    release = threading.Event()
    own = checkpoints._folder.write

    def held(*args: Any) -> None:
        assert release.wait(30)
        own(*args)

    checkpoints._folder.write = held  # type: ignore[method-assign]
    return release


def test_sampler_goes_on_amid_the_epoch(tmp_path: Path) -> None:
    sampler = EpochBatchSampler(12, 2, seed=1)
    sampler.set_epoch(1)
    expected = list(sampler)
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(sampler=sampler)
        checkpoints.save(6 + 1)  # the second batch of the second epoch
    other = EpochBatchSampler(12, 2, seed=1)
    with Checkpoints(tmp_path) as checkpoints:
        assert checkpoints.resume(sampler=other) == 8
        assert other.epoch == 1 and list(other) == expected[2:]
        checkpoints.save(8, done=5)
        checkpoints.wait()
        assert checkpoints.load(sampler=other) == 8
        assert list(other) == expected[5:]


def test_bucket_sampler_goes_on_too(tmp_path: Path) -> None:
    lengths = [1 + 7 * index % 16 for index in range(30)]
    sampler = BucketBatchSampler(lengths, [8, 16], 4)
    expected = list(sampler)  # all are handed out, as to a loader that fetches ahead
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(sampler=sampler)
        checkpoints.save(2)
    other = BucketBatchSampler(lengths, [8, 16], 4)
    assert Checkpoints(tmp_path).load(sampler=other) == 2
    assert list(other) == expected[3:]


# ------------------------------------------------------------------------ which is taken, which are kept


def test_last_ones_are_kept(tmp_path: Path) -> None:
    write(tmp_path, 6, keep=2)
    assert steps_in(tmp_path) == [4, 5]
    assert not list(tmp_path.glob("*/.*")), "temporary files are left"


def test_without_a_checkpoint_it_is_the_beginning(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Checkpoints(tmp_path / "new" / "deep").resume(part=Value(1)) == 0
    with pytest.raises(CheckpointError, match="there is no whole checkpoint"):
        Checkpoints(tmp_path).load(part=Value())


def places_to_cut(size: int) -> list[int]:
    return sorted({0, 1, 7, size // 4, size // 2, size - 300, size - 22, size - 1} & set(range(size)))


@pytest.mark.parametrize("name", ["shared.pt", "process-00000.pt", "process-00000.json"])
@pytest.mark.parametrize("damage", ["cut", "garbled", "missing"])
def test_damaged_file_falls_back_to_the_one_before(name: str, damage: str, tmp_path: Path) -> None:
    write(tmp_path, 3)
    last = max(tmp_path.iterdir())
    whole = (last / name).read_bytes()
    wrong: list[bytes | None] = [None]
    if damage == "cut":
        wrong = [whole[:place] for place in places_to_cut(len(whole))]
    elif damage == "garbled":
        wrong = [
            whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :] for place in places_to_cut(len(whole))
        ]
    for content in wrong:
        if content is None:
            (last / name).unlink()
        else:
            (last / name).write_bytes(content)
        training = Training(9)
        with pytest.warns(CheckpointWarning, match=rf"step-000000002: {name}.*taken instead: step 1") as told:
            assert Checkpoints(tmp_path).load(**training.parts) == 1
        assert len(told) == 1


def test_training_goes_on_past_a_damaged_checkpoint_and_drops_it(tmp_path: Path) -> None:
    write(tmp_path, 3)
    (max(tmp_path.iterdir()) / "shared.pt").write_bytes(b"")
    with pytest.warns(CheckpointWarning, match=r"shared.pt has 0 bytes, not \d+"):
        resumed = write(tmp_path, 6, keep=3)
    assert resumed.bits() == write(tmp_path / "other", 6).bits()
    left = sorted(path.name for path in tmp_path.glob("run-*"))
    assert left == [f"run-0002-step-{step:09d}" for step in (3, 4, 5)], "the damaged one is gone with those before it"


def test_nothing_whole_is_an_error_unless_chosen(tmp_path: Path) -> None:
    write(tmp_path, 2)
    for file in tmp_path.glob("*/shared.pt"):
        file.unlink()
    with pytest.raises(CheckpointError) as raised:
        Checkpoints(tmp_path).resume(**Training().parts)
    assert str(raised.value).count("shared.pt is missing") == 2 and "Nothing was changed" in str(raised.value)
    assert steps_in(tmp_path) == [0, 1]
    with pytest.warns(CheckpointWarning, match="this is the beginning"):
        assert Checkpoints(tmp_path, damaged="start").resume(**Training().parts) == 0


def test_killed_in_its_first_checkpoint_a_run_begins_again(tmp_path: Path) -> None:
    write(tmp_path, 1)
    for file in tmp_path.glob("*/*.json"):
        file.unlink()
    with pytest.warns(CheckpointWarning, match="had not finished writing; no checkpoint was ever finished"):
        assert Checkpoints(tmp_path).resume(**Training().parts) == 0


def test_checkpoint_of_another_model_is_not_passed_over(tmp_path: Path) -> None:
    write(tmp_path, 2)
    with pytest.raises(CheckpointError, match=r"the saved model does not fit this one(.|\n)*size mismatch"):
        Checkpoints(tmp_path).load(model=torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5)))
    with pytest.raises(CheckpointError, match="has no ema; it has model, optimizer, scheduler"):
        Checkpoints(tmp_path).load(ema=Value())


def test_readers_always_find_a_whole_checkpoint(tmp_path: Path) -> None:
    """While a training writes new ones and removes old ones."""
    write(tmp_path, 1, keep=1)
    over = threading.Event()
    found: list[int] = []

    def read() -> None:
        while not over.is_set():
            training = Training(2)
            step = Checkpoints(tmp_path).load(**training.parts)
            assert training.model[0].weight.isfinite().all()
            found.append(step)

    failures: list[BaseException] = []

    def reader() -> None:
        try:
            read()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=reader) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CheckpointWarning)
        for thread in threads:
            thread.start()
        try:
            write(tmp_path, 60, keep=1)
        finally:
            over.set()
            for thread in threads:
                thread.join()
    assert failures == []
    assert len(set(found)) > 2, "the readers saw no checkpoint come and go"


# ------------------------------------------------------------------------ where nothing can be written


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 512 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no mount")
    if done.returncode:
        pytest.skip("may not mount")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=False)


def test_full_disk_is_told_and_nothing_is_lost(small_disk: Path) -> None:
    check_full_disk(small_disk)


def test_full_disk_as_the_system_tells_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_when_large(self: LocalStorage, name: str, write: Any) -> None:
        def limited(file: Any) -> None:
            write(Limited(file))

        own(self, name, limited)

    class Limited:
        def __init__(self, file: Any) -> None:
            self.file = file

        def write(self, data: Any) -> int:
            if self.file.tell() + len(data) > 200_000:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return int(self.file.write(data))

        def flush(self) -> None:
            self.file.flush()

    own = LocalStorage.write
    monkeypatch.setattr(LocalStorage, "write", fail_when_large)
    check_full_disk(tmp_path)


def check_full_disk(place: Path) -> None:
    part = Value(torch.ones(1000))
    with Checkpoints(place) as checkpoints:
        checkpoints.resume(part=part)
        checkpoints.save(0)
        checkpoints.wait()
        part.value = torch.ones(1_000_000)
        checkpoints.save(1)
        with pytest.raises(CheckpointError, match=r"step-000000001 was not written: No space left.*MiB free"):
            checkpoints.wait()
        assert steps_in(place) == [0], "the space is not given back"
        assert checkpoints.written == 0
        part.value = torch.ones(10)
        checkpoints.save(1)  # there is room for this one
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Checkpoints(place).load(part=part) == 1


def test_failure_in_the_background_is_raised_by_the_next_call(tmp_path: Path) -> None:
    for call in ("is_due", "save", "close"):
        checkpoints = Checkpoints(tmp_path / call)
        checkpoints.resume(part=Value(1))
        checkpoints._folder.storage.write = fail  # type: ignore[method-assign]
        checkpoints.save(0)
        thread = checkpoints._writer._thread
        assert thread is not None
        thread.join()
        with pytest.raises(CheckpointError, match="was not written: \\[Errno 5\\]"):
            getattr(checkpoints, call)(*(() if call == "close" else (1,)))
        checkpoints.close()


def test_failure_does_not_hide_what_ended_the_training(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError) as raised, Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(part=Value(1))
        checkpoints._folder.storage.write = fail  # type: ignore[method-assign]
        checkpoints.save(0)
        raise ZeroDivisionError
    assert "was not written" in raised.value.__notes__[0]


def fail(name: str, write: Any) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_read_only_folder_is_told_before_the_first_step(small_disk: Path) -> None:
    write(small_disk, 1)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(CheckpointError, match=r"nothing can be written to .*: Read-only file system"):
        Checkpoints(small_disk).resume(**Training().parts)
    assert Checkpoints(small_disk).load(**Training().parts) == 0, "to read is allowed"


def test_file_in_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match=r"nothing can be written to .*file: File exists"):
        Checkpoints(tmp_path / "file").resume(part=Value())


# ------------------------------------------------------------------------ URLs


def test_url_holds_the_same(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    for url in (f"memory://{tmp_path.name}/run", f"file://{tmp_path}/run"):
        first = write(url, 5, keep=2)
        storage = UrlStorage(url)
        assert sorted(storage.names()) == ["run-0001-step-000000003", "run-0001-step-000000004"]
        other = Training(3)
        assert Checkpoints(url).load(**other.parts) == 4
        assert other.bits() == first.bits()
        storage._files.pipe_file(storage._path("run-0001-step-000000004/shared.pt"), b"x")
        with pytest.warns(CheckpointWarning, match=r"step-000000004: shared.pt has 1 bytes"):
            assert Checkpoints(url).resume(**other.parts) == 4


# ------------------------------------------------------------------------ several processes


class Member(PlainBackend):
    """One of two processes, which this test runs one after the other. Both give the same answers."""

    def __init__(self, rank: int, others: str | None = None) -> None:
        super().__init__(torch.device("cpu"))
        self.rank = rank
        self.others = others

    def place(self) -> Place:
        return Place(self.rank, 2)

    def gather(self, value: str) -> list[str]:
        return [value, value] if self.others is None else [self.others, value]


@pytest.fixture
def as_member(monkeypatch: pytest.MonkeyPatch) -> Any:
    def choose(member: Member) -> None:
        monkeypatch.setattr("tpulint_runtime.checkpoint.checkpoints.current", lambda *using: member)

    return choose


def write_both(folder: Path, as_member: Any, steps: int, finished: tuple[int, ...] = (0, 1)) -> None:
    started = []
    for rank in (0, 1):
        as_member(Member(rank))
        checkpoints = Checkpoints(folder, keep=2, per_process={"own"})
        checkpoints.resume(shared=Value(10), own=Value(rank))
        started.append(checkpoints)
    for step in range(steps):
        for rank in (0, 1) if step < steps - 1 else finished:
            started[rank].save(step)
            started[rank].wait()
    for checkpoints in started:
        checkpoints.close()


def test_each_process_has_its_own_state(tmp_path: Path, as_member: Any) -> None:
    write_both(tmp_path, as_member, 2)
    assert sorted(path.name for path in min(tmp_path.iterdir()).iterdir()) == [
        "process-00000.json",
        "process-00000.pt",
        "process-00001.json",
        "process-00001.pt",
        "shared.pt",
    ]
    for rank in (0, 1):
        as_member(Member(rank))
        shared, own = Value(), Value()
        assert Checkpoints(tmp_path, per_process={"own"}).load(shared=shared, own=own) == 1
        assert (shared.value, own.value) == (10, rank)


@pytest.mark.parametrize("finished", [(0,), (1,), ()])
def test_checkpoint_is_whole_when_all_have_written(finished: tuple[int, ...], tmp_path: Path, as_member: Any) -> None:
    write_both(tmp_path, as_member, 2, finished)
    for rank in (0, 1):
        as_member(Member(rank))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            assert Checkpoints(tmp_path).load(shared=Value()) == 0
        assert len(told) == (1 if finished else 0)


def test_missing_shard_of_another_process_is_named(tmp_path: Path, as_member: Any) -> None:
    write_both(tmp_path, as_member, 2)
    (max(tmp_path.iterdir()) / "process-00001.pt").unlink()
    as_member(Member(0))
    with pytest.warns(CheckpointWarning, match="step-000000001: process-00001.pt is missing; taken instead: step 0"):
        assert Checkpoints(tmp_path).load(shared=Value()) == 0


def test_other_number_of_processes_cannot_go_on_but_can_read(tmp_path: Path, as_member: Any) -> None:
    write_both(tmp_path, as_member, 1)
    as_member(CPU)
    with pytest.raises(CheckpointError, match="was written by 2 processes, and these are 1"):
        Checkpoints(tmp_path).resume(shared=Value())
    part = Value()
    assert Checkpoints(tmp_path).load(shared=part) == 0 and part.value == 10


def test_folders_that_others_do_not_see_are_no_beginning(tmp_path: Path, as_member: Any) -> None:
    as_member(Member(0))
    checkpoints = Checkpoints(tmp_path)
    checkpoints.resume(shared=Value(1))
    for step in range(2):
        checkpoints.save(step)
    checkpoints.close()
    with pytest.raises(CheckpointError, match=r"process-00001.json is missing"):
        Checkpoints(tmp_path).resume(shared=Value(1))


def test_sigterm_to_one_process_ends_all_at_the_same_step(tmp_path: Path, as_member: Any) -> None:
    member = Member(1)
    as_member(member)
    with pytest.raises(Preempted), Checkpoints(tmp_path, every=None, notice_every=4) as checkpoints:
        checkpoints.resume(own=Value(1))
        member.others = "came"
        assert [checkpoints.is_due(step) for step in range(5)] == [False, False, False, True, True]
        assert not checkpoints.preempted
        checkpoints.save(4)


# ------------------------------------------------------------------------ SIGTERM


def test_sigterm_saves_and_ends(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Preempted) as raised, Checkpoints(tmp_path, every=None) as checkpoints:
        checkpoints.resume(part=Value(4))
        for step in range(10):
            if step == 6:
                os.kill(os.getpid(), signal.SIGTERM)
                os.kill(os.getpid(), signal.SIGTERM)
            assert checkpoints.is_due(step) == (step == 6)
            if checkpoints.is_due(step):
                checkpoints.save(step)
    assert raised.value.code == 143 and raised.value.step == 6
    assert "SIGTERM: step 6 is saved" in capfd.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is before
    assert Checkpoints(tmp_path).load(part=Value()) == 6


def test_sigterm_that_nobody_answered_is_sent_again(tmp_path: Path) -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    try:
        with Checkpoints(tmp_path) as checkpoints:
            checkpoints.resume(part=Value(1))
            os.kill(os.getpid(), signal.SIGTERM)
            assert checkpoints.preempted and came == []
        assert came == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_other_threads_are_told_that_they_cannot_handle_it(tmp_path: Path) -> None:
    told: list[str] = []

    def run() -> None:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            Checkpoints(tmp_path).resume(part=Value(1))
        told.extend(str(warning.message) for warning in found)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert len(told) == 1 and told[0].startswith("not in the main thread")


# ------------------------------------------------------------------------ use


def test_due_every_so_many_steps(tmp_path: Path) -> None:
    with Checkpoints(tmp_path, every=3) as checkpoints:
        checkpoints.resume(part=Value(1))
        assert [step for step in range(9) if checkpoints.is_due(step)] == [2, 5, 8]


@pytest.mark.parametrize(
    ("part", "hint"),
    [
        (torch.utils.data.RandomSampler(range(3)), "EpochBatchSampler"),
        (torch.utils.data.DataLoader(range(3)), "batch sampler"),  # type: ignore[arg-type]
        (object(), "without state_dict"),
    ],
)
def test_part_without_state_is_refused(part: Any, hint: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=hint):
        Checkpoints(tmp_path).resume(part=part)


def test_saving_needs_what_to_save(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="call resume first"):
        Checkpoints(tmp_path).save(0)
    for settings in ({"keep": 0}, {"every": 0}, {"damaged": "ignore"}):
        with pytest.raises(ValueError, match=next(iter(settings))):
            Checkpoints(tmp_path, **settings)  # type: ignore[arg-type]


def test_none_is_no_part(tmp_path: Path) -> None:
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(part=Value(1), scheduler=None)
        checkpoints.save(0)
    assert Checkpoints(tmp_path).load(part=Value(), scheduler=None) == 0


def test_file_with_code_in_it_is_not_run(tmp_path: Path) -> None:
    """One that has the right digest, too."""

    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "ran"),)

    with Checkpoints(tmp_path / "run") as checkpoints:
        checkpoints.resume(part=Value(1))
        own = state.host_copy
        try:
            state.host_copy = lambda tree, backend: {"shared.pt": Evil(), "process-00000.pt": {}}
            checkpoints.save(0)
        finally:
            state.host_copy = own
    with pytest.raises(CheckpointError, match=r"shared.pt cannot be read"):
        Checkpoints(tmp_path / "run").load(part=Value())
    assert not (tmp_path / "ran").exists()


def test_backends_have_all_that_is_asked_of_them() -> None:
    asked = {name for name in vars(backend.Backend) if not name.startswith("_")}
    for kind in (backend.PlainBackend, backend.XlaBackend):
        assert asked <= set(dir(kind))
