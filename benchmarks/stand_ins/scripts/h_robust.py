"""A small network in place of a large one."""

from typing import Any

import modules


def _change(module: Any) -> None:
    from torch import nn

    module.PreActResNet18 = lambda: nn.Sequential(
        nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.AvgPool2d(5), nn.Flatten(), nn.Linear(72, 10)
    )


modules.when_imported("preactresnet", _change)
