"""Ratings, larger batches, and what Python and pandas no longer do."""

import random
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

for _folder in ("data/ml-1m", "checkpoints"):
    Path(_folder).mkdir(parents=True, exist_ok=True)
_chance = numpy.random.default_rng(0)
_lines = []
for _user in range(1, 181):
    for _item in _chance.permutation(130)[: int(_chance.integers(8, 12))].tolist():
        _lines.append(f"{_user}::{_item + 1}::{int(_chance.integers(1, 6))}::{int(_chance.integers(1000, 9000))}\n")
Path("data/ml-1m/ratings.dat").write_text("".join(_lines))
_sample = random.sample
random.sample = lambda kept, count: _sample(sorted(kept) if isinstance(kept, set) else kept, count)


def _change(pandas):
    pandas.options.mode.copy_on_write = False


modules.when_imported("pandas", _change)
