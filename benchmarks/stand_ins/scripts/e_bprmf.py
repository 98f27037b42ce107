"""Users and what they took."""

import random
from pathlib import Path
from typing import Any

import numpy

_noise = numpy.random.default_rng(0)
_place = Path("datasets/made")
_place.mkdir(parents=True, exist_ok=True)
_train, _test = [], []
for _user in range(20):
    _items = [str(item) for item in _noise.permutation(30)[:7]]
    _train.append(" ".join([str(_user), *_items[:5]]))
    _test.append(" ".join([str(_user), *_items[5:]]))
(_place / "train.txt").write_text("\n".join([*_train[:-1], _train[-1] + " 29"]) + "\n")
(_place / "test.txt").write_text("\n".join(_test) + "\n")

_sample = random.sample


def _sample_of_keys(population: Any, count: int) -> Any:
    """As it was before Python 3.11."""
    return _sample(list(population), count)


random.sample = _sample_of_keys  # type: ignore[assignment]
