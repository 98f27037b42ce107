"""Facts of a small graph of knowledge."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("data/made")
_folder.mkdir(parents=True, exist_ok=True)
for _part, _count in (("train", 61), ("valid", 6), ("test", 5)):
    _facts = [f"e{number % 20}\tr{number % 3}\te{int(_chance.integers(0, 20))}" for number in range(_count)]
    (_folder / f"{_part}.txt").write_text("\n".join(_facts) + "\n")
