"""A game by its shape, and what somebody played."""

import pickle
from pathlib import Path

import games
import numpy

games.install()
chance = numpy.random.default_rng(0)
Path("data").mkdir(exist_ok=True)
played = [
    {
        "observations": chance.normal(size=(length, 5)).astype("float32"),
        "next_observations": chance.normal(size=(length, 5)).astype("float32"),
        "actions": chance.uniform(-1, 1, (length, 2)).astype("float32"),
        "rewards": chance.normal(size=length).astype("float32"), "terminals": numpy.arange(length) == length - 1,
    }
    for length in range(12, 32)
]  # fmt: skip
with open("data/hopper-medium-v2.pkl", "wb") as file:
    pickle.dump(played, file)
