"""Numbers of pieces of text, in two files: one for the evaluation, one for the training."""

from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
Path("data/tok64").mkdir(parents=True, exist_ok=True)
Path("out").mkdir(exist_ok=True)
for _number in range(2):
    _noise.integers(3, 64, 2000).astype("uint16").tofile(f"data/tok64/data{_number:02d}.bin")
