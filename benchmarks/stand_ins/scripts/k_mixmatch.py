"""Fewer pictures for each purpose than the script's split takes."""

import made_up_data  # noqa: F401 - libraries that are not installed
import modules
import numpy


def _split(labels, labeled):
    found = [numpy.where(numpy.array(labels) == one)[0] for one in range(10)]
    parts = slice(labeled), slice(labeled, -6), slice(-6, None)
    return tuple([int(at) for one in found for at in one[part]] for part in parts)


modules.when_imported("dataset.cifar10", lambda module: setattr(module, "train_val_split", _split))
