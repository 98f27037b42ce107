"""Sentences of three to nine words."""

from pathlib import Path

import made_up_data
import numpy

_chance = numpy.random.default_rng(0)
for _name, _count in (("train", 70), ("valid", 20)):
    _lines = [" ".join(made_up_data.words(int(_chance.integers(3, 10)), seed=number)) for number in range(_count)]
    Path(f"{_name}.txt").write_text("\n".join(_lines) + "\n")
