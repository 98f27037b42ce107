"""What the loop of the runtime costs on top of one written by hand for torch_xla, side by side.

    python benchmarks/loop_overhead.py [STEPS] [DEVICE]

Both train the same model, in turns of a few steps within one process, so that whatever else the machine does meets
both. The loop by hand does the same: AdamW with a schedule, clipping, a boundary per step, losses and norms kept on
the device and read every 50 steps. Two times are compared: that of a step, and that which the processor spent on the
thread of the loop, which is what Python and tracing cost, and hardly depends on what else runs. Ratios are those of the
medians of all turns. With DEVICE ``cpu``, plain PyTorch is compared.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from tpulint_runtime import Loop, current

TURN = 10
"""Steps of a turn."""


class Perceptron(torch.nn.Module):
    """Small: what a step costs is mostly tracing it."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(6)], torch.nn.Linear(64, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.layers(x)
        return found


class Convolutional(torch.nn.Module):
    """Four blocks with batch normalisation, whose statistics are state of the step as well."""

    def __init__(self) -> None:
        super().__init__()
        blocks: list[torch.nn.Module] = []
        for before, after in ((3, 16), (16, 32), (32, 32), (32, 64)):
            blocks += [torch.nn.Conv2d(before, after, 3, padding=1), torch.nn.BatchNorm2d(after), torch.nn.ReLU()]
        self.layers = torch.nn.Sequential(*blocks, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
        self.head = torch.nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.head(self.layers(x))
        return found


class Transformer(torch.nn.Module):
    """Four layers, as they are trained."""

    def __init__(self) -> None:
        super().__init__()
        layer = torch.nn.TransformerEncoderLayer(128, 4, 512, dropout=0.1, batch_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = torch.nn.Linear(128, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.head(self.layers(x).mean(1))
        return found


SHAPES: dict[type[torch.nn.Module], tuple[int, ...]] = {
    Perceptron: (32, 64),
    Convolutional: (16, 3, 16, 16),
    Transformer: (8, 64, 128),
}


def loss_of(model: Any, batch: Any) -> torch.Tensor:
    return F.cross_entropy(model(batch[0]), batch[1])


class ByHand:
    """The loop as one writes it for torch_xla."""

    def __init__(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, scheduler: Any) -> None:
        self.model, self.optimizer, self.scheduler = model, optimizer, scheduler
        self.backend = current(model)
        self.steps = 0
        self.kept: list[torch.Tensor] = []

    def step(self, batch: Any) -> None:
        loss = loss_of(self.model, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        parameters = [parameter for parameter in self.model.parameters() if parameter.grad is not None]
        norm = torch.nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None])
        torch.nn.utils.clip_grads_with_norm_(parameters, 1.0, norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.scheduler.step()
        self.kept += [loss.detach(), norm]
        self.backend.sync()
        self.steps += 1
        if self.steps % 50 == 0:
            self.backend.fetch(self.kept)
            self.kept.clear()


def trained(kind: type[torch.nn.Module], device: torch.device) -> tuple[torch.nn.Module, torch.optim.Optimizer, Any]:
    torch.manual_seed(0)
    model = kind().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    return model, optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 100))


def turns(kind: type[torch.nn.Module], device: torch.device, steps: int) -> Iterator[list[float]]:
    """Seconds of a turn by hand and of the loop's, then those of the processor."""
    by_hand = ByHand(*trained(kind, device))
    model, optimizer, scheduler = trained(kind, device)
    loop = Loop(model, optimizer, loss_of, scheduler=scheduler, clip_norm=1.0, log_every=50)
    backend = loop.backend
    rows = SHAPES[kind][:1]
    batches = [backend.send([torch.randn(SHAPES[kind]), torch.randint(0, 10, rows)]) for _ in range(TURN)]

    def turn_by_hand() -> None:
        for batch in batches:
            by_hand.step(batch)

    def turn_of_loop() -> None:
        for batch in batches:
            loop.step([batch])
            if loop.steps % loop.log_every == 0:
                loop.log()

    def measured(turn: Callable[[], None]) -> tuple[float, float]:
        backend.sync(wait=True)
        began, worked = time.perf_counter(), time.thread_time()
        turn()
        worked = time.thread_time() - worked
        backend.sync(wait=True)
        return time.perf_counter() - began, worked

    for number in range(2 + steps // TURN):
        if number % 2:  # neither is always the first
            hand, ours = measured(turn_by_hand), measured(turn_of_loop)
        else:
            ours, hand = measured(turn_of_loop), measured(turn_by_hand)
        if number >= 2:  # the first ones compile
            yield [hand[0], ours[0], hand[1], ours[1]]


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    if "cpu" in sys.argv:
        device = torch.device("cpu")
    else:
        from tpulint_runtime.backend import XlaBackend

        device = XlaBackend().device()
    for kind in SHAPES:
        medians = [statistics.median(times) / TURN * 1e3 for times in zip(*turns(kind, device, steps), strict=True)]
        hand, ours, hand_host, ours_host = medians
        print(
            f"{kind.__name__} on {device.type}, {steps} steps: {hand:.2f} ms a step by hand, {ours:.2f} ms with the "
            f"loop, ratio {ours / hand:.3f}; of the processor {hand_host:.2f} ms and {ours_host:.2f} ms, ratio "
            f"{ours_host / hand_host:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
