"""Bags of sentences with two names in each."""

from pathlib import Path
from typing import Any

import numpy

_noise = numpy.random.default_rng(0)
_long = 82


def _sentence() -> tuple[list[int], list[list[int]], list[int], list[int]]:
    places = sorted(int(place) for place in _noise.choice(numpy.arange(2, 60), 2, replace=False))
    mask = [1] * (places[0] + 1) + [2] * (places[1] - places[0]) + [3] * (_long - places[1] - 1)
    positions = [[int(one) for one in _noise.integers(1, 101, _long)] for _ in range(2)]
    return [int(one) for one in _noise.integers(0, 38, _long)], positions, places, mask


def _bags(count: int) -> tuple[Any, Any]:
    bags, labels = numpy.empty(count, dtype=object), numpy.empty(count, dtype=object)
    for number in range(count):
        each = [_sentence() for _ in range(int(_noise.integers(1, 5)))]
        bags[number] = [[0, 1], len(each), *(list(part) for part in zip(*each, strict=True))]
        labels[number] = [int(_noise.integers(0, 6)), -1]
    return bags, labels


_root = Path("dataset/NYT")
for _name, _count in (("train", 22), ("test", 8)):
    (_root / _name).mkdir(parents=True, exist_ok=True)
    _data, _marks = _bags(_count)
    numpy.save(_root / _name / "bags_feature.npy", _data, allow_pickle=True)
    numpy.save(_root / _name / "labels.npy", _marks, allow_pickle=True)
numpy.save(_root / "w2v.npy", _noise.normal(size=(40, 50)).astype("float32"))
for _name in ("p1_2v", "p2_2v"):
    numpy.save(_root / f"{_name}.npy", _noise.normal(size=(102, 5)).astype("float32"))

_load = numpy.load
numpy.load = lambda path, **named: _load(path, **{"allow_pickle": True, **named})
