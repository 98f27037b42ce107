"""Facts of few things: subject, relation, object."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("data/made")
_folder.mkdir(parents=True, exist_ok=True)
for _split, _count in (("train", 60), ("valid", 11), ("test", 11)):
    _lines = [f"e{_chance.integers(25)}\tr{_chance.integers(4)}\te{_chance.integers(25)}" for _ in range(_count)]
    (_folder / f"{_split}.txt").write_text("\n".join(_lines) + "\n")
