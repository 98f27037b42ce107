"""A trainer that takes the old names of its settings."""

from typing import Any

import made_up_data  # noqa: F401
import modules


class Warmup:
    """A schedule that hands on to the one that it is given."""

    def __new__(cls, optimizer: Any, multiplier: float, total_epoch: int, after_scheduler: Any) -> Any:
        return after_scheduler


modules.put("warmup_scheduler", GradualWarmupScheduler=Warmup)
modules.put("comet_ml")
