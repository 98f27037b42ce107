"""A small training that is killed again and again, and compared with one that is not. Prints what came out, as JSON.

    python interrupted_training.py DEVICE KIND COUNT FOLDER

All runs are forked from this process, in which torch is loaded but nothing was computed: starting one takes some
milliseconds, not seconds. KIND says how they are interrupted: ``random`` kills at random moments, ``operations`` before
the first, second, ... thing a run does to the disk, ``sigterm`` asks them to end.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import torch
import torch._dynamo  # which the first optimizer would import, in every run
import torch.nn.functional as F
from tpulint_runtime import Checkpoints, EpochBatchSampler, Preempted, backend
from tpulint_runtime.checkpoint import CheckpointWarning

STEPS = 36
EVERY = 3
SAMPLES = 88  # 11 batches of 8: checkpoints fall amid epochs

torch.set_num_threads(1)  # threads do not survive a fork


class Noisy(torch.utils.data.Dataset[Any]):
    """Samples with noise from all generators there are."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> Any:
        noise = random.random() + numpy.random.rand() + torch.rand(()).item()
        x = torch.sin(torch.arange(16.0) * (index + 1)) + 0.1 * noise
        return x, x.sum().reshape(1)


def digest(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> str:
    """Of every bit of the parameters, buffers and moments."""
    found = hashlib.sha256()
    tensors = [*model.state_dict().values()]
    for state in optimizer.state_dict()["state"].values():
        tensors += [value for value in state.values() if isinstance(value, torch.Tensor)]
    for tensor in tensors:
        found.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()[:16]


def train(folder: str, device: torch.device, tell: Callable[[str], None]) -> None:
    """Trains to the end, from where the last run has come to. Tells what it resumes, does and has written."""
    random.seed(1)
    numpy.random.seed(1)
    torch.manual_seed(1)
    backend.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(16, 64),
        torch.nn.BatchNorm1d(64),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.2),
        torch.nn.Linear(64, 1),
    ).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=STEPS + 1)
    sampler = EpochBatchSampler(SAMPLES, 8, seed=3)
    loader = torch.utils.data.DataLoader(Noisy(), batch_sampler=sampler, generator=sampler.generator)
    backend.sync()
    with Checkpoints(folder, keep=3, every=EVERY) as checkpoints:
        step = checkpoints.resume(model=model, optimizer=optimizer, scheduler=scheduler, sampler=sampler)
        tell(f"resumed {step - 1} {digest(model, optimizer)}")
        for epoch in range(sampler.epoch, 1 + STEPS // len(sampler)):
            sampler.set_epoch(epoch)
            for x, y in loader:
                if step == STEPS:
                    break
                optimizer.zero_grad()
                F.mse_loss(model(x.to(device)), y.to(device)).backward()
                optimizer.step()
                scheduler.step()
                backend.sync()
                tell(f"done {step} {digest(model, optimizer)}")
                if checkpoints.is_due(step):
                    checkpoints.save(step)
                tell(f"written {-1 if checkpoints.written is None else checkpoints.written} -")
                step += 1
    tell(f"finished {step - 1} {digest(model, optimizer)}")


# ------------------------------------------------------------------------ runs


def fork(folder: str, device: str, log: str, prepare: Callable[[], None] = lambda: None) -> int:
    """Starts a run; the number of its process."""
    Path(log).unlink(missing_ok=True)
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        prepare()
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", CheckpointWarning)
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        train(folder, backend.device() if device == "xla" else torch.device("cpu"), lambda line: tell(file, line))
        status = 0
    except Preempted as end:
        tell(file, f"preempted {end.step} -")
        status = int(str(end.code))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def tell(file: int, line: str) -> None:
    os.write(file, f"{line}\n".encode())  # in one go, and past a kill


def lines(log: str) -> Iterator[tuple[str, int, str]]:
    file = Path(log)
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        if len(words := line.split()) == 3:  # else it is just being written
            yield words[0], int(words[1]), words[2]


class Comparison:
    """What uninterrupted training computes, and how interrupted runs differ."""

    def __init__(self, folder: str, device: str) -> None:
        log = f"{folder}/reference.log"
        began = time.monotonic()
        status = os.waitpid(fork(f"{folder}/reference", device, log), 0)[1]
        assert status == 0, "the uninterrupted run failed"
        self.seconds = time.monotonic() - began
        self.expected = {step: value for what, step, value in lines(log) if what == "done"}
        self.expected[-1] = next(value for what, step, value in lines(log) if what == "resumed")
        self.result: dict[str, Any] = {
            "interrupted": 0, "resumed": [], "wrong": [], "lost": [], "statuses": [], "finished": 0, "written": [],
        }  # fmt: skip

    def look(self, log: str, promised: int, status: int) -> tuple[bool, int]:
        """Checks what a run has told. Whether it came to the end, and the last step that was said to be written."""
        is_finished = False
        for what, step, value in lines(log):
            if what == "resumed":
                self.result["resumed"].append(step)
                if step < promised:
                    self.result["lost"].append([promised, step])
            if what in ("resumed", "done", "finished") and self.expected[step] != value:
                self.result["wrong"].append([what, step])
            if what in ("written", "preempted"):
                promised = max(promised, step)
            is_finished |= what == "finished"
        code = os.waitstatus_to_exitcode(status)
        if code not in (0, -signal.SIGKILL):
            self.result["statuses"].append(code)
        if is_finished:
            self.result["finished"] += 1
        else:
            self.result["interrupted"] += 1
        self.result["written"].append(promised)
        return is_finished, promised


def interrupt_at_random(compared: Comparison, folder: str, device: str, count: int, number: int) -> None:
    """Chains of runs, each continuing what the one before has left, until ``count`` were interrupted."""
    chance = random.Random(count)
    chain, promised = 0, -1
    while True:
        log = f"{folder}/run.log"
        process = fork(f"{folder}/chain-{chain}", device, log)
        if compared.result["interrupted"] < count:
            if device == "xla":  # where most of the time goes into starting and compiling
                wait_for_lines(log, chance.randint(1, 40), process)
                time.sleep(chance.uniform(0, 0.02))
            else:
                time.sleep(chance.uniform(0, 0.6) * compared.seconds)
            os.kill(process, number)
        is_finished, promised = compared.look(log, promised, os.waitpid(process, 0)[1])
        if is_finished:
            chain, promised = chain + 1, -1
            if compared.result["interrupted"] >= count:
                return


def wait_for_lines(log: str, count: int, process: int) -> None:
    """Returns when a run has told so much, or has ended."""
    while sum(1 for _ in lines(log)) < count:
        if os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return
        time.sleep(0.005)


def interrupt_operations(compared: Comparison, folder: str, device: str, count: int) -> None:
    """A run that is killed before each of the first operations on the disk, and one that goes on to the end."""
    for operation in range(count):
        log, place = f"{folder}/run.log", f"{folder}/operation-{operation}"
        process = fork(place, device, log, lambda at=operation: kill_before(at))  # type: ignore[misc]
        _, promised = compared.look(log, -1, os.waitpid(process, 0)[1])
        process = fork(place, device, log)
        compared.look(log, promised, os.waitpid(process, 0)[1])


def kill_before(operation: int) -> None:
    """Ends this process without notice before the given change to the disk, counted from 0."""
    left = [operation]

    def counted(change: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return change(*args, **options)

        return call

    for name in ("mkdir", "fsync", "replace", "unlink", "rmdir"):
        setattr(os, name, counted(getattr(os, name)))


if __name__ == "__main__":
    used, kind, number, place = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    if used == "cpu":
        backend.own.cache_clear()
        backend._is_installed = lambda package: False
    else:
        import torch_xla  # noqa: F401  # once, for all runs
    comparison = Comparison(place, used)
    if kind == "operations":
        interrupt_operations(comparison, place, used, number)
    else:
        interrupt_at_random(comparison, place, used, number, signal.SIGTERM if kind == "sigterm" else signal.SIGKILL)
    print(json.dumps({**comparison.result, "seconds": comparison.seconds}))
