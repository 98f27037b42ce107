"""Generators and classes of other files that hand on the batches of a loader, or make them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

LOOP = """
    for x, y in {source}:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
    """
MADE = "DataLoader(samples, batch_size=8, shuffle=True)"


def program(imported: str, source: str) -> str:
    return f"{SETUP}\n    from batches import {imported}\n    {LOOP.format(source=source)}"


@pytest.mark.parametrize(
    ("yields", "is_told"),
    [
        ("for x, y in self.loader:\n                yield x.float(), y", True),
        ("for batch in self.loader:\n                yield batch", True),
        ("yield from self.loader", True),
        ("for x, y in self.loader:\n                if len(x) != 8: continue\n                yield x, y", False),
        ("for x, y in self.loader:\n                if len(x) == 8:\n                    yield x, y", False),
        ("for x, y in self.loader:\n                for k in range(8):\n                    yield x[k], y[k]", False),
    ],
)  # fmt: skip
def test_a_class_with_a_loader(tmp_path: Path, yields: str, is_told: bool) -> None:
    batches = f"""
    from torch.utils.data import DataLoader

    class Moved:
        def __init__(self, samples):
            self.loader = {MADE}{"  # TPU501" * is_told}

        def __iter__(self):
            {yields}
    """
    agree(tmp_path, "TPU501", main=program("Moved", "Moved(samples)"), batches=batches)


@pytest.mark.parametrize("given", ["loader", "self.loader"])
def test_a_loader_that_is_given_to_a_class(tmp_path: Path, given: str) -> None:
    is_kept = given == "self.loader"
    batches = f"""
    from torch.utils.data import DataLoader

    def make(samples):
        return {MADE}{"  # TPU501" * is_kept}

    class Moved:
        def __init__(self, loader):
            self.loader = {"loader" if is_kept else "[(loader, loader)]"}

        def __iter__(self):
            for x, y in self.loader:
                yield x.float(), y
    """
    agree(tmp_path, "TPU501", main=program("Moved, make", "Moved(make(samples))"), batches=batches)


def test_a_generator_with_a_loader(tmp_path: Path) -> None:
    batches = f"""
    from torch.utils.data import DataLoader

    def load(samples):
        loader = {MADE}  # TPU501
        while True:
            yield from loader
    """
    agree(tmp_path, "TPU501", main=program("load", "load(samples)"), batches=batches)


@pytest.mark.parametrize("method", ["__iter__", "other"])
def test_a_class_that_makes_batches(tmp_path: Path, method: str) -> None:
    is_told = method == "__iter__"
    batches = f"""
    import torch

    class Texts:
        def __init__(self, chunks):
            self.chunks = chunks

        def {method}(self):
            for chunk in self.chunks:
                longest = max(len(row) for row in chunk){"  # TPU513" * is_told}
                x = torch.zeros(len(chunk), longest)
                for i, row in enumerate(chunk):
                    x[i, : len(row)] = torch.tensor(row)
                yield x, x
    """
    agree(tmp_path, "TPU513", main=program("Texts", "Texts(chunks)"), batches=batches)


@pytest.mark.parametrize(("bar", "is_told"), [("tqdm(loader)", True), ("tqdm(total=len(loader))", False)])
def test_a_progress_bar_of_a_with_statement_in_another_file(tmp_path: Path, bar: str, is_told: bool) -> None:
    train = f"""
    import torch
    import torch.nn.functional as F
    from tqdm import tqdm

    def train(model, optimizer, loader):
        with {bar} as batches:
            for number, (x, y) in enumerate(batches, start=1):
                optimizer.zero_grad()
                F.mse_loss(model(x.cuda()), y.cuda()).backward()
                optimizer.step()
    """
    main = f"""{SETUP}
    from torch.utils.data import DataLoader
    from train import train

    loader = {MADE}{"  # TPU501" * is_told}
    train(model, optimizer, loader)
    """
    agree(tmp_path, "TPU501", main=main, train=train)
