"""Clouds of 64 points, each a part of something."""

import made_up_data  # noqa: F401
import modules
import numpy

modules.put("sklearn.metrics", accuracy_score=lambda one, other: float((one == other).mean()),
            balanced_accuracy_score=lambda one, other: float((one == other).mean()))  # fmt: skip


def _change(module):
    def load(partition):
        chance = numpy.random.default_rng(len(partition))
        count = 104 if partition == "trainval" else 11
        label = chance.integers(0, 16, (count, 1))
        return chance.normal(size=(count, 64, 3)).astype("float32"), label, chance.integers(0, 50, (count, 64))

    module.load_data_partseg = load
    module.load_color_partseg = lambda: None


modules.when_imported("data", _change)
