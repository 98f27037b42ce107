"""Fewer pictures to be divided."""

from pathlib import Path

import modules

Path("models/cifar10").mkdir(parents=True, exist_ok=True)
Path("samples/cifar10").mkdir(parents=True, exist_ok=True)


def _change(module):
    before = module.random_split

    def split(data, sizes):
        last = len(data) * sizes[1] // sum(sizes) + 13
        return before(data, [len(data) - last, last])

    module.random_split = split


modules.when_imported("torch.utils.data", _change)
