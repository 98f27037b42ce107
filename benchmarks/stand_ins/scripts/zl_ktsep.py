"""Answers of several users, in a file each."""

from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
for _split, _count in (("train", 4), ("val", 2), ("test", 2)):
    _folder = Path(f"made/ASSISTments2009/processed/1/{_split}")
    _folder.mkdir(parents=True, exist_ok=True)
    for _user in range(_count):
        _rows = ["tag_id,is_correct"]
        _rows += [f"{_chance.integers(1, 111)},{_chance.integers(0, 2)}" for _ in range(6 + _user)]
        (_folder / f"{_user}.csv").write_text("\n".join(_rows) + "\n")
