"""Ratings of 20 users, and facts about what they rated."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("../data/movie")
_folder.mkdir(parents=True, exist_ok=True)
_ratings = [(number % 20, number % 30, _chance.integers(2)) for number in range(132)]
_facts = [(number % 40, _chance.integers(4), (number + 7) % 40) for number in range(52)]
numpy.savetxt(_folder / "ratings_final.txt", numpy.array(_ratings), fmt="%d")
numpy.savetxt(_folder / "kg_final.txt", numpy.array(_facts), fmt="%d")
modules.put("sklearn.metrics", roc_auc_score=lambda **_: 0.5)
modules.put("trace_grad")
