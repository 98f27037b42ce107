"""A small network in place of a large one."""

from pathlib import Path
from typing import Any

import made_up_data
import modules

made_up_data.smaller_batches(24)
for _name in ("checkpoint", "curve"):
    Path(_name).mkdir(exist_ok=True)


def _change(module: Any) -> None:
    from torch import nn

    module.ResNet34 = lambda: nn.Sequential(
        nn.Conv2d(3, 8, 3, 2), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10)
    )


modules.when_imported("models", _change)
