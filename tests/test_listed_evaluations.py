"""Comprehensions that run a model batch by batch without training it."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

SCRIPT = """\
    import torch
    from torch import nn
    from torch.utils.data import DataLoader

    device = torch.device("cuda")

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 2)

        def forward(self, x):
            return self.layer(x)

        def loss_of(self, batch):
            x, y = batch
            return nn.functional.cross_entropy(self(x.to(device)), y.to(device))

        def number_of(self, batch):
            return self.loss_of(batch).item()NUMBER

        def note(self, batch):
            print(batch)

    def evaluate(model, loader):
        MODE
        return LIST

    def main(data):
        model = Net().to(device)
        loader = DataLoader(data, batch_size=8)LAST
        print(evaluate(model, loader))
    """
LOSSES = "torch.stack([model.loss_of(batch) for batch in loader])"


CODES = "TPU101,TPU302,TPU516"


def marked(listed: str, mode: str, **codes: str) -> str:
    """The script with its marks: codes by the line that they are told of."""
    script = SCRIPT.replace("MODE", mode).replace("return LIST", f"return {listed}LISTED")
    for mark in ("NUMBER", "LISTED", "LAST"):
        script = script.replace(mark, f"  # {codes[mark]}" if mark in codes else "")
    return script


@pytest.mark.parametrize(
    ("listed", "told"),
    [
        (LOSSES, {"LISTED": "TPU302", "LAST": "TPU516"}),
        ("[model(x.to(device)) for x, y in loader]", {"LISTED": "TPU302", "LAST": "TPU516"}),
        ("sum(model.loss_of(batch) for batch in loader)", {"LISTED": "TPU302", "LAST": "TPU516"}),
        ("sum(model.number_of(batch) for batch in loader)", {"NUMBER": "TPU101", "LAST": "TPU516"}),
        ("[model(x.to(device)).sum().item() for x, y in loader]", {"LISTED": "TPU101", "LAST": "TPU516"}),
        ("(model.loss_of(batch) for batch in loader)", {}),  # gone through elsewhere, if at all
        ("[model.note(batch) for batch in loader]", {}),  # runs nothing
        ("[model(torch.ones(4, 4).to(device)) for _ in range(2)]", {}),  # no batches
    ],
)
def test_comprehensions_that_evaluate(tmp_path: Path, listed: str, told: dict[str, str]) -> None:
    agree(tmp_path, CODES, script=marked(listed, "model.eval()", **told))


def test_model_that_is_switched_to_training(tmp_path: Path) -> None:
    agree(tmp_path, CODES, script=marked(LOSSES, "model.train()"))


def test_loaders_that_set_boundaries(tmp_path: Path) -> None:
    script = marked(LOSSES.replace("in loader", "in MpDeviceLoader(loader, device)"), "model.eval()")
    imported = "    from torch_xla.distributed.parallel_loader import MpDeviceLoader\n"
    agree(tmp_path, "TPU302", script=imported + script)
