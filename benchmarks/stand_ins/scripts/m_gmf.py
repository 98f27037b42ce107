"""Ratings, more items than the hundred that are drawn for each user, and samples of sets, as before Python 3.11."""

import random
from pathlib import Path

_chance = random.Random(0)
Path("data/ml-1m").mkdir(parents=True, exist_ok=True)
Path("checkpoints").mkdir(exist_ok=True)
_rows = [f"{user}::{item}::{_chance.randrange(1, 6)}::{_chance.randrange(10**6)}" for user in range(1, 25)
         for item in _chance.sample(range(1, 241), 31)]  # fmt: skip
_rows += [f"{1 + item % 24}::{item}::3::{item}" for item in range(1, 241)]
Path("data/ml-1m/ratings.dat").write_text("\n".join(dict.fromkeys(_rows)) + "\n")
_sample = random.sample
random.sample = lambda population, count: _sample(sorted(population), count)
