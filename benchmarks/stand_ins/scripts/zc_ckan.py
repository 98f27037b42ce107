"""Ratings of items, and facts about them and other things."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("../data/made")
_folder.mkdir(parents=True, exist_ok=True)
_rated = numpy.array([(user, item, (user + item) % 2) for user in range(24) for item in _chance.permutation(20)[:16]])
numpy.save(_folder / "ratings_final.npy", _rated.astype("int32"))
_facts = numpy.array([(one, _chance.integers(4), _chance.integers(40)) for one in range(40) for _ in range(3)])
numpy.save(_folder / "kg_final.npy", _facts.astype("int32"))
modules.put("sklearn.metrics", roc_auc_score=lambda **_: 0.5, f1_score=lambda **_: 0.5)
