"""Traffic in a town, as pictures after each other."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made/taxibj").mkdir(parents=True, exist_ok=True)
_parts = {"X_train": 28, "Y_train": 28, "X_test": 10, "Y_test": 10}
numpy.savez(
    "made/taxibj/dataset.npz", **{part: _chance.uniform(-1, 1, (count, 4, 2, 32, 32)) for part, count in _parts.items()}
)
modules.put("skimage.metrics", structural_similarity=lambda *_, **__: 0.5)
