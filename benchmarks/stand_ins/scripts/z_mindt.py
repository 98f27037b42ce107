"""A game by its shape, and what was played of it, of several lengths."""

import pickle
from pathlib import Path

import games
import made_up_data  # noqa: F401
import numpy

games.install()
_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
_played = [
    {
        "observations": _chance.normal(size=(length, 5)).astype("float32"),
        "actions": _chance.uniform(-1, 1, (length, 2)).astype("float32"),
        "rewards": _chance.normal(size=length).astype("float32"),
    }
    for length in (int(one) for one in _chance.integers(5, 20, 22))
]
Path("made/hopper-medium-v2.pkl").write_bytes(pickle.dumps(_played))
