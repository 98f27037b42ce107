"""What a library would tell apart."""

import made_up_data  # noqa: F401
import modules
import numpy


class Means:
    def __init__(self, **_):
        pass

    def fit_predict(self, rows):
        return numpy.arange(len(rows)) % 10


modules.put("sklearn.cluster", KMeans=Means)
modules.put("sklearn.metrics", confusion_matrix=lambda *_: numpy.ones((10, 10)))


def _windows(size, rows):
    kept = list(rows)
    return [tuple(kept[start : start + size]) for start in range(len(kept) - size + 1)]


modules.put(
    "cytoolz.itertoolz", concat=lambda rows: [one for row in rows for one in row], sliding_window=_windows
)  # fmt: skip
modules.when_imported(
    "torchvision.datasets", lambda module: setattr(module.MNIST, "train_data", property(lambda self: self.data))
)
