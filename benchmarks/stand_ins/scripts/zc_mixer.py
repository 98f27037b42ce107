"""A warm-up of the learning rate and a policy of augmentation, by their outsides."""

import made_up_data  # noqa: F401
import modules


class Warm:
    def __init__(self, optimizer, multiplier, total_epoch, after_scheduler):
        self.after = after_scheduler

    def step(self):
        self.after.step()


modules.put("warmup_scheduler", GradualWarmupScheduler=Warm)
modules.put("AutoAugment.autoaugment")
