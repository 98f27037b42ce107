"""Trains on two devices of XLA's CPU backend, and writes what each of them saw, as JSON.

    python replicas.py FILE

The launcher runs one thread for each of these devices. XLA:CPU does execute collectives between them, but only if both
run the *same* compiled program: otherwise each waits for ever for a partner in its own. So step boundaries are taken in
turns: the second finds in the cache what the first has compiled. That is possible only if both traced the same graph;
if not, the run does not end, which is what would happen on a TPU.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
from typing import Any

import torch
import torch.nn.functional as F
from tpulint_runtime import (
    EpochBatchSampler,
    Loop,
    RunningMean,
    Tally,
    backend,
    broadcast_parameters,
    call_once,
    launch,
    print_once,
    reduce_gradients,
    sum_over_processes,
    synchronize_batch_norms,
    tally,
)
from tpulint_runtime.backend import XlaBackend

DEVICES = 2

os.environ["PJRT_DEVICE"] = "CPU"
os.environ["CPU_NUM_DEVICES"] = str(DEVICES)
# Threads of torch_xla, and of XLA's CPU client: by default one for each core, and a replica that waits occupies one.
os.environ["XLA_THREAD_POOL_SIZE"] = os.environ["NPROC"] = "16"

SAMPLES, ROWS, TURNS, EPOCHS = 32, 4, 2, 2
LOOPS = (1, 2)  # batches of an update
RATE, LIMIT = 0.02, 0.05

turns = threading.Barrier(DEVICES)
drawing = threading.Lock()
results: dict[int, dict[str, Any]] = {}


def take_turns() -> None:
    """Lets the boundary of the first replica compile before that of the second looks into the cache. The first may not
    return before the second runs: it waits where memory is to be freed that its graph still reads. The rest of
    ``torch_xla.sync`` waits for that, too, and with Python's lock held: it comes when both graphs run."""
    import torch_xla
    import torch_xla.runtime

    sync, returned = torch_xla.sync, threading.Event()

    def asked() -> tuple[int, int]:
        """Graphs in the cache, and how often one was found there."""
        found = torch_xla.debug.metrics.counter_value("CachedCompile") or 0
        return torch_xla.runtime.get_num_cached_compilation_graph(), found

    def in_turns(wait: bool = False) -> None:
        rank, device = backend.place().rank, str(backend.device())
        torch_xla._XLAC._xla_wait_device_ops(devices=[])
        returned.clear()
        turns.wait()
        before = asked()
        turns.wait()
        while rank and asked() == before and not returned.wait(0.002):
            pass
        torch_xla._XLAC._xla_step_marker(device, [], wait=False)
        if rank == 0:
            returned.set()
        turns.wait()
        sync()

    torch_xla.sync = in_turns


def samples() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(5)
    return torch.randn(SAMPLES, 6, generator=generator), torch.randn(SAMPLES, 2, generator=generator)


def made(seed: int) -> torch.nn.Sequential:
    with drawing:  # the replicas are threads here, and share the random numbers of the host
        torch.manual_seed(seed)
        return torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))


def train(reduce: bool) -> dict[str, Any]:
    """Two epochs with accumulated gradients, and what came of it in this replica."""
    place, device = backend.place(), backend.device()
    model = made(seed=place.rank).to(device)
    broadcast_parameters(model)
    start = [parameter.tolist() for parameter in model.parameters()]
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    x, y = samples()
    sampler = EpochBatchSampler(SAMPLES, ROWS, num_replicas=place.processes, rank=place.rank)
    mean, graphs, kinds, seen, lines = RunningMean(device), [], [], [], []
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        for number, rows in enumerate(sampler):
            seen.append(rows)
            losses = F.mse_loss(model(x[rows].to(device)), y[rows].to(device), reduction="none").mean(-1)
            (losses.mean() / TURNS).backward()
            mean.add(tally(losses))
            if number % TURNS == TURNS - 1:
                if reduce:
                    reduce_gradients(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), LIMIT)
                optimizer.step()
                optimizer.zero_grad()
            state = [*model.parameters(), mean.total, losses]
            graphs.append(XlaBackend().graph_hash(state))
            kinds.append(collectives(state))
            backend.sync()
            call_once(lines.append, {"epoch": epoch, "losses": losses})
            print_once("loss", losses[0])
    total, count = sum_over_processes(mean.total), sum_over_processes(mean.count)
    backend.sync()
    return {
        "start": start,
        "weights": [parameter.tolist() for parameter in model.parameters()],
        "graphs": graphs,
        "collectives": kinds,
        "seen": seen,
        "lines": [line["losses"].tolist() for line in lines],
        "total": total.item(),
        "count": count.item(),
    }


def shares() -> list[list[Any]]:
    """For each replica batches of one shape, of which other numbers of rows are real: means are to weigh rows."""
    x, y = samples()
    real = torch.arange(SAMPLES) % 8 < 5  # four rows of the first half of each eight, one of the second
    batches = [*zip(x.split(ROWS), y.split(ROWS), real.split(ROWS), strict=True)]
    return [batches[rank::DEVICES] for rank in range(DEVICES)]


def squares(model: Any, batch: Any) -> Tally:
    x, y, real = batch
    return tally(F.mse_loss(model(x), y, reduction="none").mean(-1), real)


def train_in_loop(accumulate: int) -> dict[str, Any]:
    """Two epochs of a :class:`Loop`, and what came of it in this replica."""
    kinds: list[int] = []

    class Watched(XlaBackend):
        def sync(self, wait: bool = False) -> None:
            kinds.append(collectives([*model.parameters()]))
            super().sync(wait)

    model = made(seed=0).to(backend.device())
    loop = loop_of(model, accumulate, Watched())
    batches = [loop.backend.send([*batch]) for batch in shares()[backend.place().rank]]
    loop.prepare()
    kinds.clear()
    for _ in range(EPOCHS):
        for at in range(0, len(batches), accumulate):
            loop.step(batches[at : at + accumulate])
    return {"weights": [parameter.tolist() for parameter in model.parameters()], "collectives": kinds}


def loop_of(model: torch.nn.Module, accumulate: int, used: Any = None) -> Loop:
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    return Loop(model, optimizer, squares, accumulate=accumulate, clip_norm=LIMIT, backend=used)


def loop_alone(accumulate: int) -> dict[str, Any]:
    """The same with all batches in one process on the host."""
    model = made(seed=0)
    loop = loop_of(model, accumulate)
    pairs = [[torch.cat(parts) for parts in zip(*pair, strict=True)] for pair in zip(*shares(), strict=True)]
    for _ in range(EPOCHS):
        for at in range(0, len(pairs), accumulate):
            loop.step(pairs[at : at + accumulate])
    return {"weights": [parameter.tolist() for parameter in model.parameters()]}


def train_normed(synchronize: bool) -> dict[str, Any]:
    """Steps with a batch normalisation, and the gradients of inputs and of parameters, added up over the replicas."""
    place, device = backend.place(), backend.device()
    model = normed()
    if synchronize:
        synchronize_batch_norms(model)
    model = model.to(device)
    broadcast_parameters(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    x, y = (whole.chunk(DEVICES)[place.rank].to(device) for whole in samples())
    kinds = []
    for _ in range(TURNS):
        F.mse_loss(model(x), y).backward()
        reduce_gradients(optimizer)
        optimizer.step()
        optimizer.zero_grad()
        kinds.append(collectives([*model.parameters(), *model.buffers()]))
        backend.sync()
    state = {name: value.tolist() for name, value in model.state_dict().items()}
    return {"state": state, "collectives": kinds}


def normed() -> torch.nn.Sequential:
    model = made(seed=0)
    return torch.nn.Sequential(model[0], torch.nn.BatchNorm1d(5), *model[1:])


def normed_alone() -> dict[str, Any]:
    """The same with all samples in one process on the host."""
    model, (x, y) = normed(), samples()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    for _ in range(TURNS):
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
    return {name: value.tolist() for name, value in model.state_dict().items()}


def collectives(tensors: list[torch.Tensor]) -> int:
    """How many there are in the graph of these tensors."""
    import torch_xla

    return sum(" all-reduce(" in row for row in torch_xla._XLAC._get_xla_tensors_hlo(tensors).splitlines())


def one_process(seen: list[list[list[int]]]) -> dict[str, Any]:
    """What a single process on the host makes of the samples that all replicas saw together."""
    model, (x, y) = made(seed=0), samples()
    start = [parameter.tolist() for parameter in model.parameters()]
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    total = 0.0
    for number, shares in enumerate(zip(*seen, strict=True)):
        rows = [row for share in shares for row in share]
        losses = F.mse_loss(model(x[rows]), y[rows], reduction="none").mean(-1)
        (losses.mean() / TURNS).backward()
        total += float(losses.sum())
        if number % TURNS == TURNS - 1:
            torch.nn.utils.clip_grad_norm_(model.parameters(), LIMIT)
            optimizer.step()
            optimizer.zero_grad()
    return {"start": start, "weights": [parameter.tolist() for parameter in model.parameters()], "total": total}


def replica(index: int, file: str) -> None:
    place = backend.place()
    gc.disable()  # what it frees may be read by a graph that runs, and it would wait for that with Python's lock held
    if place.rank == 0:
        take_turns()
    turns.wait()
    results[place.rank] = {"place": place, "reduced": train(reduce=True), "alone": train(reduce=False)}
    for accumulate in LOOPS:
        results[place.rank][f"loop {accumulate}"] = train_in_loop(accumulate)
    for synchronize in (True, False):
        results[place.rank]["synchronized" if synchronize else "by itself"] = train_normed(synchronize)
    turns.wait()
    if place.rank == 0:
        found = [results[rank] for rank in range(DEVICES)]
        alone = one_process([of_replica["reduced"]["seen"] for of_replica in found])
        loops = {f"loop {accumulate}": loop_alone(accumulate) for accumulate in LOOPS}
        with open(file, "w", encoding="utf-8") as opened:
            whole = {"one_process": alone, "normed_alone": normed_alone(), **loops}
            json.dump({"samples": SAMPLES, "epochs": EPOCHS, "replicas": found, **whole}, opened)


if __name__ == "__main__":
    launch(replica, (sys.argv[1],))
