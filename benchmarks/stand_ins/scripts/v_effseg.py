"""Streets of noise, small ones, and what is known of their classes."""

import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

Path("dataset/inform").mkdir(parents=True, exist_ok=True)
Path("dataset/inform/camvid_inform.pkl").write_bytes(pickle.dumps({
    "classWeights": numpy.ones(11, dtype="float32"), "mean": numpy.zeros(3, dtype="float32"),
    "std": numpy.ones(3, dtype="float32"),
}))  # fmt: skip


def _streets(count, seed):
    class Streets:
        def __init__(self, *_, **__):
            chance = numpy.random.default_rng(seed)
            self._pictures = chance.normal(size=(count, 3, 48, 64)).astype("float32")
            self._labels = chance.integers(0, 12, (count, 48, 64)).astype("float32")

        def __len__(self):
            return count

        def __getitem__(self, index):
            return self._pictures[index], self._labels[index], numpy.array([48, 64, 3]), f"s{index}"

    return Streets


def _change(module):
    module.CamVidDataSet, module.CamVidValDataSet = _streets(27, 1), _streets(5, 2)


modules.put("utilities.print_utils")
modules.when_imported("dataset.camvid", _change)
