"""Trains on four devices of XLA's CPU backend in SPMD mode, and writes what came of it, as JSON.

    python divided.py FILE

That mode is of the whole process, and cannot be turned off: so this is a script of its own. XLA:CPU compiles such a
program for all devices together, and executes the collectives it puts in.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from tpulint_runtime import Checkpoints, Mesh, backend, launch, reduce_gradients

DEVICES = 4

DUMP = Path(tempfile.mkdtemp(prefix="hlo"))
os.environ["PJRT_DEVICE"] = "CPU"
os.environ["CPU_NUM_DEVICES"] = str(DEVICES)
os.environ["XLA_FLAGS"] = f"--xla_dump_to={DUMP} --xla_dump_hlo_as_text --xla_dump_hlo_module_re=.*SyncTensors.*"

STEPS, ROWS, WIDTH = 4, 8, 16


def made() -> torch.nn.Sequential:
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, 64), torch.nn.GELU(), torch.nn.Linear(64, WIDTH))


def batches() -> list[dict[str, torch.Tensor]]:
    generator = torch.Generator().manual_seed(4)
    return [
        {name: torch.randn(ROWS, WIDTH, generator=generator) for name in ("x", "y")}
        | {"weight": torch.rand(ROWS, generator=generator)}
        for _ in range(STEPS)
    ]


def loss_of(model: torch.nn.Module, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    losses = F.mse_loss(model(batch["x"]), batch["y"], reduction="none").mean(-1)
    return (losses * batch["weight"]).mean()


def trained(fsdp: int, folder: str) -> dict[str, Any]:
    """A training, and how its tensors are divided."""
    from torch_xla.distributed.parallel_loader import MpDeviceLoader

    mesh, device = Mesh(fsdp=fsdp), backend.device()
    model = made().to(device)
    plan = mesh.shard_model(model, smallest=100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    mesh.shard_optimizer(optimizer)
    backend.sync()
    compiled_before, known = backend.own().compile_count(), set(DUMP.iterdir())
    losses, rows = [], {}
    for batch in MpDeviceLoader(batches(), device, input_sharding=mesh.input_sharding()):
        loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        reduce_gradients(optimizer)  # adds nothing here
        optimizer.step()
        losses.append(loss)
        rows = {name: mesh.divided(tensor) for name, tensor in batch.items()}
    compiled = backend.own().compile_count() - compiled_before
    with Checkpoints(folder) as checkpoints:
        checkpoints.resume(model=model, optimizer=optimizer)
        checkpoints.save(0)
    other = made().to(device)
    mesh.shard_model(other, smallest=100)
    resumed = torch.optim.AdamW(other.parameters(), lr=0.01)
    mesh.shard_optimizer(resumed)
    with Checkpoints(folder) as checkpoints:
        checkpoints.resume(model=other, optimizer=resumed)
    return {
        "sizes": mesh.sizes,
        "plan": plan,
        "rows": rows,
        "losses": [loss.item() for loss in losses],
        "weights": [parameter.tolist() for parameter in model.parameters()],
        "parameters": {name: mesh.divided(parameter) for name, parameter in model.named_parameters()},
        "shares": shares(list(model.parameters())),
        "state": state_of(mesh, optimizer),
        "resumed": {name: mesh.divided(parameter) for name, parameter in other.named_parameters()},
        "resumed_state": state_of(mesh, resumed),
        "resumed_weights": [parameter.tolist() for parameter in other.parameters()],
        "compiled": compiled,
        "collectives": collectives(known),
    }


def one_device() -> dict[str, Any]:
    """The same training on the host."""
    model = made()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for batch in batches():
        loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "weights": [parameter.tolist() for parameter in model.parameters()]}


def state_of(mesh: Mesh, optimizer: torch.optim.Optimizer) -> list[str]:
    """How the state of each parameter is divided, in the order of the parameters."""
    parameters = optimizer.param_groups[0]["params"]
    return [mesh.divided(optimizer.state[parameter]["exp_avg"]) for parameter in parameters]


def shares(tensors: list[Any]) -> list[list[int]]:
    """Shapes of what the first device has of each tensor."""
    import torch_xla

    return [list(found[0][0].shape) for found in torch_xla._XLAC._get_local_shards(tensors)]


def collectives(known: set[Path]) -> dict[str, int]:
    """Kinds of collectives, and how many, in the largest program compiled since: that of a step in which the optimizer
    has its state. XLA writes down what it has made of the graph for each device."""
    texts = [path.read_text() for path in DUMP.glob("*after_optimizations.txt") if path not in known]
    kinds = r" (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\("
    return dict(Counter(re.findall(kinds, max(texts, key=len))))


def of_norms() -> dict[str, dict[str, list[str]]]:
    """What each layer makes devices send each other, as torch has it and written out: kinds and shapes."""
    mesh, found = Mesh(), {}
    layers: dict[str, tuple[Any, tuple[int, ...]]] = {
        "LayerNorm": (lambda: torch.nn.LayerNorm(WIDTH), (ROWS, 6, WIDTH)),
        "GroupNorm": (lambda: torch.nn.GroupNorm(2, 4), (ROWS, 4, 5, 5)),
        "BatchNorm2d": (lambda: torch.nn.BatchNorm2d(4), (ROWS, 4, 5, 5)),
    }
    for name, (make, shape) in layers.items():
        found[name] = {}
        for form in ("torch", "divided"):
            model = torch.nn.Sequential(make()).to(backend.device())
            if form == "divided":
                mesh.shard_model(model)
            x = mesh.send(torch.randn(shape))
            backend.sync()
            known = set(DUMP.iterdir())
            model(x).square().mean().backward()
            backend.sync(wait=True)
            sent = set()
            for path in set(DUMP.glob("*after_optimizations.txt")) - known:
                sent |= set(re.findall(r"= (\w+\[[\d,]*\])\S* (all-gather|all-reduce)\(", path.read_text()))
            found[name][form] = sorted(f"{kind} {shape}" for shape, kind in sent)
    return found


def refused() -> dict[str, str]:
    """What cannot be, and how it is told."""
    from torch_xla.distributed.parallel_loader import MpDeviceLoader

    mesh, told = Mesh(), {}
    uneven = torch.ones(DEVICES + 2, 2)
    asked = {
        "columns": lambda: Mesh(fsdp=3),
        "send": lambda: mesh.send({"x": uneven}),
        "loader": lambda: next(
            iter(MpDeviceLoader([(uneven,)], backend.device(), input_sharding=mesh.input_sharding()))
        ),
        "host": lambda: mesh.shard_model(made()),
        "launch": lambda: launch(print),
    }
    for name, ask in asked.items():
        try:
            ask()
        except (ValueError, NotImplementedError) as error:
            told[name] = f"{type(error).__name__}: {error}"
    sent = mesh.send([{"x": torch.ones(DEVICES, 2), "name": "a"}, torch.tensor(2.0)])
    told["sent"] = f"{mesh.divided(sent[0]['x'])} {sent[0]['name']} {mesh.divided(sent[1])}"
    return told


if __name__ == "__main__":
    results: dict[str, Any] = {}
    for fsdp in (1, 2, 4):
        with tempfile.TemporaryDirectory() as folder:
            results[str(fsdp)] = trained(fsdp, folder)
    results["norms"] = of_norms()
    results["refused"] = refused()
    results["one_device"] = one_device()
    Path(sys.argv[1]).write_text(json.dumps(results))
