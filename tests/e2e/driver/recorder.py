"""Records what a training run does without disturbing it.

The root of every backward pass is kept on its device and the counters of XLA are noted at that moment; values
are read once, at exit. So measuring adds no synchronisation, no graph cut and no compilation.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import sys
from multiprocessing import util
from pathlib import Path
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

METRICS = ("CompileTime", "ExecuteTime", "TransferFromDeviceTime")
"""Metrics of torch_xla of which the number of samples counts."""
COUNTERS = ("UncachedCompile", "MarkStep")

LOSSES: list[torch.Tensor] = []
SNAPSHOTS: list[dict[str, Any]] = []
"""At each backward: the device, the XLA counters, and whether an evaluation or a save came before it."""
OPTIMIZERS: list[torch.optim.Optimizer] = []
"""In the order of their first step."""
STATE = {"aside": False, "in_backward": False, "registered": False, "written": False}


def install(folder: str) -> None:
    """Records the rest of this process into ``folder``, one file per process that trains."""
    write = functools.partial(_write, Path(folder))
    atexit.register(write)
    backward = torch.autograd.backward

    @functools.wraps(backward)
    def record_backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
        if STATE["in_backward"]:
            return backward(tensors, *args, **kwargs)
        if not STATE["registered"]:
            # Exit functions run last in, first out: these must run before torch_xla's own, which close the device.
            # Worker processes of multiprocessing leave without atexit, hence the finalizer.
            STATE["registered"] = True
            atexit.register(write)
            util.Finalize(None, write, exitpriority=100)
        root = tensors if isinstance(tensors, torch.Tensor) else tensors[0]
        LOSSES.append(root.detach().clone())
        SNAPSHOTS.append({"device": root.device.type, "aside": STATE["aside"], "counts": xla_counts()})
        STATE["aside"] = False
        STATE["in_backward"] = True
        try:
            return backward(tensors, *args, **kwargs)
        finally:
            STATE["in_backward"] = False

    torch.autograd.backward = record_backward
    _watch_evaluation_and_saving()

    def remember(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if not any(known is optimizer for known in OPTIMIZERS):
            OPTIMIZERS.append(optimizer)

    register_optimizer_step_post_hook(remember)


def xla_counts() -> dict[str, int]:
    """The counters right now; empty while torch_xla is not loaded. Reading them runs nothing."""
    xla: Any = sys.modules.get("_XLAC")
    if xla is None:
        return {}
    counts = {name: int(xla._xla_counter_value(name) or 0) for name in COUNTERS}
    for name in METRICS:
        samples = xla._xla_metric_data(name)
        counts[name] = int(samples[0]) if samples else 0
    return counts


def _watch_evaluation_and_saving() -> None:
    """Reads that belong to an evaluation or a checkpoint are not charged to the training step after it."""
    set_training = torch.nn.Module.train

    @functools.wraps(set_training)
    def train(self: torch.nn.Module, mode: bool = True) -> torch.nn.Module:
        STATE["aside"] |= not mode
        return set_training(self, mode)

    torch.nn.Module.train = train
    save = torch.save

    @functools.wraps(save)
    def save_aside(*args: Any, **kwargs: Any) -> None:
        STATE["aside"] = True
        save(*args, **kwargs)

    torch.save = save_aside


def _write(folder: Path) -> None:
    if STATE["written"] or not LOSSES:
        return
    STATE["written"] = True
    final = xla_counts()
    xla: Any = sys.modules.get("torch_xla")
    if xla is not None:
        xla.sync()  # one graph for all that is pending, instead of one for each value
    record = {
        "snapshots": SNAPSHOTS,
        "final": final,
        "losses": [float(loss) if loss.numel() == 1 else None for loss in LOSSES],
        "optimizers": [_describe(optimizer) for optimizer in OPTIMIZERS],
    }
    (folder / f"{os.getpid()}.json").write_text(json.dumps(record))


def _describe(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Where its parameters are and a checksum of them: parameters that nothing trains keep that of the start."""
    parameters = [parameter.detach() for group in optimizer.param_groups for parameter in group["params"]]
    return {
        "devices": sorted({parameter.device.type for parameter in parameters}),
        "size": sum(parameter.numel() for parameter in parameters),
        "checksum": sum(float(parameter.to("cpu").double().abs().sum()) for parameter in parameters),
    }
