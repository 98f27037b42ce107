"""Films of people who speak: words, sound and faces, each as numbers after each other."""

import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
for _name in ("data", "pre_trained_models"):
    Path(_name).mkdir(exist_ok=True)
_kept = {
    part: {
        "vision": _chance.normal(size=(count, 8, 9)), "text": _chance.normal(size=(count, 8, 12)),
        "audio": _chance.normal(size=(count, 8, 7)), "labels": _chance.uniform(-3, 3, (count, 1, 1)),
    }
    for part, count in (("train", 44), ("valid", 18), ("test", 20))
}  # fmt: skip
Path("data/mosei_senti_data.pkl").write_bytes(pickle.dumps(_kept))
_half = lambda *_, **__: 0.5  # noqa: E731
modules.put("sklearn.metrics", accuracy_score=_half, f1_score=_half)
