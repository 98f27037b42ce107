"""Digits in files, and batches of eleven of them."""

from pathlib import Path

import made_up_data
import modules
import pictures


def _change(torch):
    folder = Path("made/MNIST/MNIST/processed")
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(("training", "test")):
        data, labels = pictures.noise(pictures.count_of("MNIST")[number], (28, 28), 10, 1 + number)
        torch.save((torch.from_numpy(data), torch.tensor(labels)), folder / f"{name}.pt")


modules.when_imported("torch", _change)
made_up_data.smaller_batches(11)
