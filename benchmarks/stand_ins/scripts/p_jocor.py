"""Digits as files, in batches for a CPU."""

from pathlib import Path
from typing import Any

import made_up_data
import modules
import pictures


def _write(torch: Any) -> None:
    Path("data/processed").mkdir(parents=True, exist_ok=True)
    for name, count, seed in (("training", 72, 1), ("test", 40, 2)):
        data, labels = pictures.noise(count, (28, 28), 10, seed)
        torch.save((torch.from_numpy(data), torch.tensor(labels)), f"data/processed/{name}.pt")


made_up_data.smaller_batches(16)
modules.when_imported("torch", _write)
