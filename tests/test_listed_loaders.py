"""Loaders that lists keep, which loops give to objects and functions that go through them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

FILLED = """
def make(sets):
    train_loaders, test_loaders = [], []
    for data in sets:
        train_loaders.append(DataLoader(data, batch_size=32, shuffle=True))  # TPU501
        test_loaders.append(DataLoader(data, batch_size=32))  # TPU516
    return train_loaders, test_loaders

"""
CLIENT = """
import torch
import torch.nn.functional as F

class Client:
    def __init__(self, model, train_loader, test_loader):
        self.model, self.train_loader = model, train_loader
        self.test_loader = test_loader
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(self):
        self.fit(self.train_loader)
        self.check(self.test_loader)

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            F.cross_entropy(self.model(x.to("cuda")), y.to("cuda")).backward()
            self.optimizer.step()

    def check(self, loader):
        with torch.no_grad():
            for x, y in loader:
                print(self.model(x.to("cuda")).argmax(1).eq(y.to("cuda")).sum().item())

"""
RUN = """
    train_loaders, test_loaders = make(sets)
    clients = []
    for i, (train_loader, test_loader) in enumerate(zip(train_loaders, test_loaders)):
        clients.append(Client(torch.nn.Linear(4, 4).to("cuda"), train_loader, test_loader))
    for client in clients:
        client.step()
"""
HEAD = "import torch\nfrom torch.utils.data import DataLoader\n"


@pytest.mark.parametrize("wholly", [True, False])
def test_loaders_given_to_objects(tmp_path: Path, wholly: bool) -> None:
    """Those that leave the rest out are right."""
    filled = FILLED if wholly else FILLED.replace("32", "32, drop_last=True").replace("  # TPU501", "")
    filled = filled if wholly else filled.replace("  # TPU516", "")
    agree(tmp_path, "TPU501,TPU516", main=f"{HEAD}{CLIENT}{filled}def main(sets):{RUN}\nmain([])\n")


def test_loaders_of_another_file(tmp_path: Path) -> None:
    main = f"import torch\nfrom data import make\nfrom client import Client\ndef main(sets):{RUN}\nmain([])\n"
    agree(tmp_path, "TPU501,TPU516", data=HEAD + FILLED, client=CLIENT, main=main)


@pytest.mark.parametrize(
    ("made", "is_told"),
    [
        ("loader, other = [DataLoader(d, batch_size=8, shuffle=True) for d in (train, test)]", True),
        ("loader, other = (DataLoader(d, batch_size=8, shuffle=True) for d in (train, test))", True),
        ("loader = [DataLoader(d, batch_size=8, shuffle=True) for d in (train, test)][0]", True),
        ("loader, other = [DataLoader(d, batch_size=8, drop_last=True) for d in (train, test)]", False),
        ("loader, other = [make(d) for d in (train, test)]", False),
    ],
)
def test_loaders_of_a_comprehension(tmp_path: Path, made: str, is_told: bool) -> None:
    text = f"""{SETUP}
    from torch.utils.data import DataLoader
    {made}{"  # TPU501" * is_told}
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU501,TPU516", main=text)


def test_parts_of_batches(tmp_path: Path) -> None:
    """What a generator makes of the batches of a loader is no list of loaders."""
    text = f"""{SETUP}
    from torch.utils.data import DataLoader
    def parts(loader):
        for x, y in loader:
            yield list(zip(x.split(4), y.split(4)))
    for batch in parts(DataLoader(data, batch_size=8, shuffle=True)):
        for x, y in batch:
            optimizer.zero_grad()
            F.mse_loss(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
    """
    agree(tmp_path, "TPU516", main=text)


@pytest.mark.parametrize(
    ("order", "places", "is_told"),
    [
        ("torch.randperm(len(self.data)).tolist()", "0, len(order), self.size", True),
        ("list(range(len(self.data)))", "0, len(self.data), self.size", True),
        ("torch.randperm(len(self.data)).tolist()", "0, len(order) - self.size + 1, self.size", False),
        ("torch.randperm(len(self.data)).tolist()[:640]", "0, len(order), self.size", False),
        ("torch.randperm(self.size * 20).tolist()", "0, self.size * 20, self.size", False),
    ],
)
def test_samplers_that_yield_slices(tmp_path: Path, order: str, places: str, is_told: bool) -> None:
    text = f"""{SETUP}
    from torch.utils.data import DataLoader
    class Batches:
        def __init__(self, data, size):
            self.data, self.size = data, size
        def __iter__(self):
            order = {order}
            for i in range({places}):
                yield order[i : i + self.size]
    for x, y in DataLoader(data, batch_sampler=Batches(data, 32)):{"  # TPU501" * is_told}
        optimizer.zero_grad()
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU501", main=text)
