"""An order of fewer pictures than the data set has."""

from pathlib import Path

import numpy

_order = numpy.random.default_rng(0).permutation(76)
Path("data/cifar_shuffle.txt").write_text("\n".join(str(one) for one in _order) + "\n")
