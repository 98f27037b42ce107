"""Digits of black and white in place of a file of them, and a reader of settings that is not installed."""

import os
import sys
from pathlib import Path

import modules
import numpy

os.environ["DAT"] = os.environ["TMPDIR"] = str(Path("made").absolute())
Path("made").mkdir(exist_ok=True)
Path("made/binary_mnist.h5").write_text("")


class _File(dict):
    def __init__(self, path, *_):
        chance = numpy.random.default_rng(0)
        super().__init__({
            split: (chance.random((count, 784)) < 0.3).astype("float32")
            for split, count in (("train", 210), ("valid", 44), ("test", 44))
        })  # fmt: skip


class _Config:
    def __init__(self, given):
        self.__dict__.update(given)

    def parse_args(self):
        for key, value in zip(sys.argv[1::2], sys.argv[2::2], strict=False):
            before = getattr(self, key.strip("-"))
            setattr(self, key.strip("-"), type(before)(value))
        for key, value in vars(self).items():
            if key.endswith("_dir"):
                setattr(self, key, Path(os.path.expandvars(value)))


def _change(module):
    before = module.load
    module.load = lambda stream, Loader=module.SafeLoader: before(stream, Loader)


modules.put("nomen", Config=_Config)
modules.put("h5py", File=_File)
modules.when_imported("yaml", _change)
