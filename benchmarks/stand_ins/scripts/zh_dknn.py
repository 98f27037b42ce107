"""Digits that are fewer than the script splits, in the names of an older torchvision."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules

Path("logs").mkdir(exist_ok=True)


def _change_splits(module):
    before = module.random_split

    def in_parts(dataset, lengths, **more):
        last = max(1, len(dataset) * lengths[-1] // sum(lengths))
        return before(dataset, [len(dataset) - last, last], **more)

    module.random_split = in_parts


def _change_digits(module):
    module.MNIST.train_data = property(lambda self: self.data)
    module.MNIST.train_labels = property(lambda self: self.targets)


modules.when_imported("torch.utils.data", _change_splits)
modules.when_imported("torchvision.datasets", _change_digits)
