"""Ratings of films, a place for them, and samples of sets as older versions of Python drew them."""

import random
from pathlib import Path

import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
_lines = []
for _user in range(1, 10):
    for _place, _item in enumerate(_chance.choice(60, int(_chance.integers(4, 9)), replace=False)):
        _lines.append(f"{_user}::{_item}::{_chance.integers(1, 6)}::{1000 + _place}")
_lines += [f"10::{_item}::4::{1000 + _item}" for _item in range(0, 60, 6)]
Path("made/ratings.dat").write_text("\n".join(_lines) + "\n")
_sample = random.sample
random.sample = lambda population, k: _sample(sorted(population) if isinstance(population, set) else population, k)


def _change(module):
    module.DATA_PATH, module.MODEL_PATH = "made/ratings.dat", "made/models/"


modules.when_imported("config", _change)
