"""Loaders in a part of what a function of another file is given, which the loops of that one take apart.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

CODES = "TPU501,TPU516"
LOADERS = """\
    from torch.utils.data import DataLoader

    def load(size):
        train = DataLoader(samples, batch_size=size, shuffle=True)  # TPU501
        test = DataLoader(others, batch_size=size)  # TPU516
        spare = DataLoader(others, batch_size=size)
        RETURN
    """
TRAINING = """\
    import torch
    import torch.nn.functional as F

    def step(model, optimizer, x, y):
        optimizer.zero_grad()
        F.mse_loss(model(x.cuda()), y.cuda()).backward()
        optimizer.step()

    class Trainer:
        def __init__(self, model, optimizer, data):
            self.model, self.optimizer = model, optimizer
            KEEP

        def train(self):
            for x, y in self.train_loader:
                step(self.model, self.optimizer, x, y)
            self.model.eval()
            with torch.no_grad():
                for x, y in self.test_loader:
                    print(F.mse_loss(self.model(x.cuda()), y.cuda()))
    """


@pytest.mark.parametrize(
    ("returned", "kept"),
    [
        ("return train, test, spare", "self.train_loader, self.test_loader, _ = data"),
        ("return train, (test, spare)", "self.train_loader, (self.test_loader, _) = data"),
        ("return [train, test, spare]", "self.train_loader = data[0]\n            self.test_loader = data[1]"),
        (
            'return {"train": train, "test": test, "spare": spare}',
            'self.train_loader = data["train"]\n            self.test_loader = data["test"]',
        ),
        (
            'found = {}\n        found["a"] = (spare, spare)\n        found["b"] = (train, test)\n        return found',
            'self.train_loader, self.test_loader = data["b"]',
        ),
    ],
)
def test_arguments_that_an_object_takes_apart(tmp_path: Path, returned: str, kept: str) -> None:
    """Made by a third file, by a function of the program, and where the program calls the object."""
    training = TRAINING.replace("KEEP", kept)
    program = SETUP + "\n    from training import Trainer\n"
    called = "\n    Trainer(model, optimizer, load(8)).train()\n"
    whole = LOADERS.replace("RETURN", returned)
    apart, together = tmp_path / "apart", tmp_path / "together"
    apart.mkdir()
    agree(apart, CODES, main=program + "    from loaders import load\n" + called, loaders=whole, training=training)
    together.mkdir()
    agree(together, CODES, main=program + whole + called, training=training)


PHASES = """\
    import torch
    import torch.nn.functional as F

    def train(model, optimizer, loaders):
        for epoch in range(8):
            for phase in ["train", "val"]:
                for x, y in loaders[phase]:
                    with torch.set_grad_enabled(phase == "train"):
                        loss = F.mse_loss(model(x.cuda()), y.cuda())
                        if phase == "train":
                            loss.backward()
                            optimizer.step()
                            optimizer.zero_grad()
    """
DICTIONARY = """
    from torch.utils.data import DataLoader

    first = DataLoader(samples, batch_size=8, shuffle=True)  # TPU501
    second = DataLoader(others, batch_size=8)  # TPU516
    loaders = {"train": first, "val": second}
    """


def test_loaders_of_phases_in_a_dictionary_that_another_file_goes_through(tmp_path: Path) -> None:
    program = SETUP + DICTIONARY + "\n    from phases import train\n    train(model, optimizer, loaders)\n"
    agree(tmp_path, CODES, main=program, phases=PHASES)


def test_loaders_of_phases_in_a_variable_of_a_third_file(tmp_path: Path) -> None:
    program = SETUP + "\n    from phases import train\n    IMPORT\n    train(model, optimizer, GIVEN)\n"
    for folder, statement, given in (
        ("name", "from data import loaders", "loaders"),
        ("module", "import data", "data.loaders"),
    ):
        (tmp_path / folder).mkdir()
        main = program.replace("IMPORT", statement).replace("GIVEN", given)
        agree(tmp_path / folder, CODES, main=main, phases=PHASES, data=DICTIONARY)


def test_loaders_that_an_object_keeps_which_another_file_is_given(tmp_path: Path) -> None:
    """What it keeps beside them, and the samples of a loader, are no batches of a loop."""
    data = """
    from torch.utils.data import DataLoader

    class Data:
        def __init__(self, size):
            self.size = size
            self.train_loader = DataLoader(samples, batch_size=size, shuffle=True)  # TPU501
            self.spare_loader = DataLoader(others, batch_size=size)
            self.test_loader, self.other_loader = self.held_out(), self.beside()

        def held_out(self):
            return DataLoader(others, batch_size=self.size)  # TPU516

        def beside(self):
            return DataLoader(others, batch_size=self.size)
    """
    epochs = """\
    import torch
    import torch.nn.functional as F

    def train(model, optimizer, data):
        for x, y in data.train_loader:
            optimizer.zero_grad()
            F.mse_loss(model(x.cuda()), y.cuda()).backward()
            optimizer.step()

    def test(model, data):
        model.eval()
        with torch.no_grad():
            for x, y in data.test_loader:
                print(F.mse_loss(model(x.cuda()), y.cuda()))
            for x, y in data.other_loader.dataset:
                print(F.mse_loss(model(x.cuda()), y.cuda()))
    """
    called = "\n    held = Data(8)\n    train(model, optimizer, held)\n    test(model, held)\n"
    program = SETUP + "\n    from epochs import test, train\n"
    for folder in ("apart", "together"):
        (tmp_path / folder).mkdir()
    main = program + "    from data import Data\n" + called
    agree(tmp_path / "apart", CODES, main=main, data=data, epochs=epochs)
    agree(tmp_path / "together", CODES, main=program + data + called, epochs=epochs)


def test_loaders_of_clients_by_a_key_that_a_loop_gives(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    from torch.utils.data import DataLoader
    from epochs import train

    clients = {name: DataLoader(samples[name], batch_size=8, shuffle=True) for name in names}  # TPU501
    kept = {name: DataLoader(samples[name], batch_size=8, shuffle=True) for name in names}
    for name in clients:
        train(model, optimizer, clients[name])
        print(len(kept[name]))
    """
    )
    epochs = """\
    import torch.nn.functional as F

    def train(model, optimizer, loader):
        for x, y in loader:
            optimizer.zero_grad()
            F.mse_loss(model(x.cuda()), y.cuda()).backward()
            optimizer.step()
    """
    agree(tmp_path, CODES, main=program, epochs=epochs)
