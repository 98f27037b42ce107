"""The mean of the pictures, and folders for what is kept."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules

for _folder in ("statistics", "models/mnist", "samples", "reconstruction"):
    Path(_folder).mkdir(parents=True, exist_ok=True)


def _write(torch):
    torch.save(torch.rand(784, generator=torch.Generator().manual_seed(0)), "statistics/mnist_mean.pt")


modules.when_imported("torch", _write)
