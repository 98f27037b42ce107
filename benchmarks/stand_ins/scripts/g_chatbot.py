"""What people say to each other."""

from pathlib import Path

import made_up_data
import numpy

_noise = numpy.random.default_rng(0)
_lines = [" ".join(made_up_data.words(int(_noise.integers(2, 9)), seed=number)) for number in range(120)]
Path("made.txt").write_text("\n".join(_lines) + "\n")
