"""Clouds of 96 points, as a file that ``h5py`` would read."""

import sys

import modules
import numpy


class File(dict):
    def __init__(self, *_, **__):
        draw = numpy.random.default_rng(0).normal
        super().__init__(
            {
                "02691156": {
                    split: draw(size=(count, 96, 3)).astype("float32")
                    for split, count in (("train", 28), ("val", 11), ("test", 9))
                }
            }
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


modules.put("h5py", File=File)


def _change(torch):
    torch.utils.tensorboard = sys.modules["torch.utils.tensorboard"]


modules.when_imported("torch", _change)
