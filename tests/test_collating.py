"""How loaders get the function that makes their batches, and how that finds out how long the longest sample is.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

COLLATE = """\
    import torch

    class Fill:
        def __init__(self, value=0):
            self.value = value

        def __call__(self, batch):
            LENGTHS
            longest = LONGEST  # TPU513
            rows = torch.LongTensor(len(batch), longest)
            rows.zero_()
            for row, sample in zip(rows, batch):
                row[: len(sample)] = sample
            return rows

    def fill(batch):
        whole = Fill()
        return whole(batch)
    """
PROGRAM = """
    from functools import partial
    from torch.utils.data import DataLoader
    from fillers import Fill, fill

    def loader_of(samples, collate=None):
        MADE
        return DataLoader(samples, batch_size=8, drop_last=True, collate_fn=made)

    for x in loader_of(samples):  # TPU301
        optimizer.zero_grad()
        model(x.to(device)).mean().backward()
        optimizer.step()
    """


@pytest.mark.parametrize(
    ("made", "lengths", "longest"),
    [
        ("made = Fill(0)", "pass", "max(len(x) for x in batch)"),
        ("made = collate if collate else fill", "pass", "max(len(x) for x in batch)"),
        (
            "made = partial(Fill(0))",
            "lengths, order = torch.sort(torch.LongTensor([len(x) for x in batch]), dim=0, descending=True)",
            "lengths[0]",
        ),
        ("made = Fill()", "lengths = torch.LongTensor([len(x) + 2 for x in batch])", "lengths.max().item()"),
    ],
)
def test_longest_samples(tmp_path: Path, made: str, lengths: str, longest: str) -> None:
    fillers = COLLATE.replace("LENGTHS", lengths).replace("LONGEST", longest)
    agree(tmp_path, "TPU301,TPU513", main=SETUP + PROGRAM.replace("MADE", made), fillers=fillers)


@pytest.mark.parametrize(
    ("lengths", "longest"),
    [
        ("lengths, order = torch.sort(torch.LongTensor([len(x) for x in batch]))", "lengths[0]"),
        ("lengths = torch.LongTensor([self.value for x in batch])", "lengths.max().item()"),
        ("lengths = torch.LongTensor([len(x) for x in batch])", "-(-lengths.max().item() // 64) * 64"),
    ],
)
def test_other_lengths(tmp_path: Path, lengths: str, longest: str) -> None:
    """The shortest, one that is given, and one that is rounded."""
    fillers = COLLATE.replace("LENGTHS", lengths).replace("LONGEST", longest).replace("  # TPU513", "")
    agree(tmp_path, "TPU301,TPU513", main=SETUP + PROGRAM.replace("MADE", "made = Fill()"), fillers=fillers)


def test_loaders_of_lightning(tmp_path: Path) -> None:
    """Its loops take what the hooks give, be it through other methods."""
    module = """\
    import pytorch_lightning as pl
    from torch.utils.data import DataLoader
    from fillers import Fill

    class Labelling(pl.LightningModule):
        def training_step(self, batch, batch_idx):
            return self.model(batch).mean()

        def train_dataloader(self):
            return self.loader_of("train")

        def loader_of(self, name):
            loader = DataLoader(self.samples[name], batch_size=8, collate_fn=Fill())
            return loader

    class Plain:
        def train_dataloader(self):
            return DataLoader(self.samples, collate_fn=pad)

    def pad(batch):
        longest = max(len(sample) for sample in batch)
        return [sample + [0] * (longest - len(sample)) for sample in batch]
    """
    fillers = COLLATE.replace("LENGTHS", "pass").replace("LONGEST", "max(len(x) for x in batch)")
    agree(tmp_path, "TPU513", main=module, fillers=fillers)
