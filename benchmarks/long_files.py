"""Lint time by length of the file, for several shapes of a long file.

    python benchmarks/long_files.py 1000 4000 16000 100000

``training``: training functions of thirty lines each, one below the other, with findings everywhere. ``step``: one
training loop whose step is as long as the file. ``functions``: short functions and classes that call each other, right
as they stand. Seconds are CPU seconds; the last column is the ratio to ``ast.parse`` of the same text, which linear
growth keeps flat.
"""

from __future__ import annotations

import ast
import gc
import sys
import time
from collections.abc import Callable

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

HEAD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)
"""
FUNCTION = """

def train_{number}(args, loader, test_loader):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler()
    criterion = nn.CrossEntropyLoss()
    losses, running = [], 0.0
    for epoch in range(args.epochs):
        for step, (x, y) in enumerate(loader):
            x, y = x.to(device), y.cuda(non_blocking=True)
            optimizer.zero_grad()
            with torch.cuda.amp.autocast():
                loss = criterion(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            running += loss.item()
            losses.append(loss.item())
            if step % 10 == 0:
                print(epoch, step, loss.item())
        correct = 0
        model.eval()
        with torch.no_grad():
            for x, y in test_loader:
                correct += (model(x.to(device)).argmax(1) == y.to(device)).sum().item()
        print(correct, running / len(loader))
    torch.save(model.state_dict(), "model_{number}.pt")
    return losses
"""


STEP_HEAD = """\
import torch
import torch_xla
from torch import nn


def train(loader, args):
    device = torch.device("cuda")
    model = nn.Linear(3, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
"""
STEP = """\
        h_{number} = torch.relu(model(x) + {number})
        if args.part_{number}:
            h_{number} = h_{number} * h_{before}.mean()
        loss_{number} = nn.functional.mse_loss(h_{number}, y)
        print("loss {number}", loss_{number}.item())
"""
STEP_TAIL = """\
        loss_{number}.backward()
        optimizer.step()
"""
SMALL = """

class Part{number}(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layer = nn.Linear(size, size)

    def forward(self, x):
        return scale_{number}(self.layer(x), x.size(0))


def scale_{number}(x, count):
    total = x.sum(dim=1, keepdim=True)
    return scale_{before}(x / total, count) if count > {number} else total
"""


def training(lines: int) -> str:
    """Training functions, one below the other."""
    count = max(1, (lines - HEAD.count("\n")) // FUNCTION.count("\n"))
    return HEAD + "".join(FUNCTION.format(number=number) for number in range(count))


def step(lines: int) -> str:
    """One step as long as the file."""
    count = max(1, lines // STEP.count("\n"))
    parts = (STEP.format(number=number, before=max(0, number - 1)) for number in range(count))
    return STEP_HEAD + "".join(parts) + STEP_TAIL.format(number=count - 1)


def functions(lines: int) -> str:
    """Short functions and classes that call each other, and one loop that runs them."""
    count = max(1, lines // SMALL.count("\n"))
    parts = (SMALL.format(number=number, before=max(0, number - 1)) for number in range(count))
    return HEAD + "".join(parts) + FUNCTION.format(number=0)


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of a piece of work."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


SHAPES = {"training": training, "step": step, "functions": functions}


def main() -> None:
    """Print a Markdown table."""
    catalogue, settings = load(), Settings()
    lint(SourceFile.from_text(training(100)), settings, catalogue)
    print("| file | lines | findings | lint, s | lint over `ast.parse` |")
    print("|---|---:|---:|---:|---:|")
    for shape, write in SHAPES.items():
        for wanted in map(int, sys.argv[1:] or ["1000", "4000", "16000"]):
            text = write(wanted)
            gc.collect()
            gc.disable()  # as the linter does while it parses
            parsed = min(seconds(lambda text=text: ast.parse(text)) for _ in range(3))  # type: ignore[misc]
            gc.enable()
            gc.collect()
            begin = time.process_time()
            result = lint(SourceFile.from_text(text), settings, catalogue)
            spent = time.process_time() - begin
            ratio = spent / parsed
            print(f"| {shape} | {wanted:,} | {len(result.findings):,} | {spent:.2f} | {ratio:.1f} |", flush=True)


if __name__ == "__main__":
    main()
