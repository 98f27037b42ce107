"""Movements of six kinds, and small settings."""

from pathlib import Path
from typing import Any

import made_up_data  # noqa: F401
import modules


def _write(torch: Any) -> None:
    Path("data/HAR").mkdir(parents=True, exist_ok=True)
    for part, count in (("train", 44), ("val", 20), ("test", 20)):
        samples = {"samples": torch.randn(count, 9, 128), "labels": torch.arange(count) % 6}
        torch.save(samples, f"data/HAR/{part}.pt")


def _change(module: Any) -> None:
    before = module.Config.__init__

    def init(self: Any) -> None:
        before(self)
        self.batch_size, self.num_epoch = 8, 3

    module.Config.__init__ = init


modules.when_imported("torch", _write)
modules.when_imported("config_files.HAR_Configs", _change)
