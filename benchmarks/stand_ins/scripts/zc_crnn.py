"""Windows of heartbeats of two kinds, and measures."""

import made_up_data
import modules
import numpy


def _waves(module):
    chance = numpy.random.default_rng(0)
    draw = lambda count: chance.normal(size=(count, 1, 200)).astype("float32")  # noqa: E731
    kinds = lambda count: chance.integers(0, 2, count)  # noqa: E731
    module.read_data_physionet_2_clean = lambda **_: (draw(76), draw(36), kinds(76), kinds(36), numpy.arange(36) // 3)


modules.when_imported("util", _waves)
modules.put("torchsummaryX", summary=lambda *_: None)
modules.put(
    "sklearn.metrics",
    classification_report=lambda *_, **__: {"0": {"f1-score": 0.5}, "1": {"f1-score": 0.5}},
    confusion_matrix=lambda *_: "",
)
made_up_data.smaller_batches(16)
