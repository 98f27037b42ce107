"""Batches that a function of another file moves: the file that trains says nothing of a device itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree


@pytest.mark.parametrize(
    ("placing", "is_told"),
    [
        ("def place(x):\n    return x.cuda()", True),
        ("import torch\n\ndef place(x):\n    return x.cuda()", True),
        ('def place(x, device="cuda"):\n    return x.to(device)', True),
        ('def place(x, device: str | None = "cuda:0"):\n    return x.to(device)', True),
        ('import torch\n\ndef place(x):\n    return x.to("cuda", non_blocking=True)', True),
        ("def place(x):\n    return x.float()", False),
        ('def place(x, device="cpu"):\n    return x.to(device)', False),
        ('def place(x, device="cuda"):\n    return device, x', False),
        ("import paddle\n\ndef place(x):\n    return x.cuda()", False),
    ],
)
def test_a_function_of_another_file_that_moves_the_batch(tmp_path: Path, placing: str, is_told: bool) -> None:
    train = f"""\
    from placing import place

    def train(model, loader, criterion, opt):
        model.train()
        for x, y in loader:{"  # TPU301" * is_told}
            loss = criterion(model(place(x)), place(y))
            opt.zero_grad()
            loss.backward()
            opt.step()
            print(loss.item()){"  # TPU101" * is_told}
    """
    agree(tmp_path, "TPU101,TPU301", train=train, placing=placing + "\n")
