"""Lint time by length of the file: training functions of thirty lines each, one below the other.

    python benchmarks/long_files.py 1000 4000 16000

Seconds are CPU seconds; the last column is the ratio to ``ast.parse`` of the same text, which linear growth keeps flat.
"""

from __future__ import annotations

import ast
import sys
import time

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


def program(lines: int) -> str:
    """A file of about so many lines."""
    count = max(1, (lines - HEAD.count("\n")) // FUNCTION.count("\n"))
    return HEAD + "".join(FUNCTION.format(number=number) for number in range(count))


def main() -> None:
    """Print a Markdown table."""
    catalogue, settings = load(), Settings()
    lint(SourceFile.from_text(program(100)), settings, catalogue)
    print("| lines | findings | lint, s | lint over `ast.parse` |")
    print("|---:|---:|---:|---:|")
    for wanted in map(int, sys.argv[1:] or ["1000", "4000", "16000"]):
        text = program(wanted)
        begin = time.process_time()
        ast.parse(text)
        parsed = time.process_time()
        result = lint(SourceFile.from_text(text), settings, catalogue)
        spent = time.process_time() - parsed
        print(f"| {wanted:,} | {len(result.findings):,} | {spent:.2f} | {spent / (parsed - begin):.1f} |")


if __name__ == "__main__":
    main()
