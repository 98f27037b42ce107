"""Pictures of zeros and ones, as text."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
Path("data/MNIST_static").mkdir(parents=True, exist_ok=True)
for _split, _count in (("train", 58), ("valid", 20), ("test", 6)):
    _lines = (" ".join(str(one) for one in row) for row in _chance.integers(0, 2, (_count, 784)))
    Path(f"data/MNIST_static/binarized_mnist_{_split}.amat").write_text("\n".join(_lines) + "\n")
