"""Functions of other files that ``functools.partial`` gives some of their arguments by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree, fill

SAMPLE = """
    import torch

    def generate(model, count, device, scale=2, shown=None):
        out = torch.zeros(count, 1, 8, 8, device=device)
        for y in range(8):
            for x in range(8):LOOP
                logits = model(out)
                out[:, 0, y, x] = logits[:, 0, y, x] / scale
                if shown is not None:
                    shown(y)
        return out
"""
TRAIN = """
    from functools import partial

    import sample
    import torch
    from torch import nn

    @torch.no_grad()
    def draw(model, generate, device):
        model.eval()
        return generate(model, 4, device)

    device = torch.device("cuda")
    model = nn.Conv2d(1, 1, 3, padding=1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        for step in range(10):  # TPU301
            loss = model(torch.randn(4, 1, 8, 8, device=device)).sum()
            loss.backward()
            optimizer.step()
        MADE
"""


def check_files(folder: Path, made: str, mark: str) -> None:
    agree(folder, "TPU301,TPU302", sample=SAMPLE.replace("LOOP", mark), train=fill(TRAIN, MADE=made))


@pytest.mark.parametrize(
    "made",
    [
        "draw(model, partial(sample.generate, scale=4), device)",
        "generate = partial(sample.generate, scale=4)\ndraw(model, generate, device)",
        "generate = partial(partial(sample.generate, scale=4), shown=print)\ndraw(model, generate, device)",
    ],
)
def test_a_function_that_is_given_some_arguments_by_name_is_followed(tmp_path: Path, made: str) -> None:
    check_files(tmp_path, made, "  # TPU302")


@pytest.mark.parametrize(
    "made",
    [
        "generate = partial(sample.generate, model)\ndraw(4, generate, device)",  # all others stand at other places
        "generate = partial(*parts)\ndraw(model, generate, device)",
        "generate = sample.partial(sample.generate, scale=4)\ndraw(model, generate, device)",
    ],
)
def test_what_may_be_called_otherwise_is_not_followed(tmp_path: Path, made: str) -> None:
    check_files(tmp_path, made, "")
