"""Meetings of 40 nodes, in order of time."""

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy

_noise, _count = numpy.random.default_rng(0), 420
for _folder in ("data", "saved_models", "saved_checkpoints", "results", "log"):
    Path(_folder).mkdir(exist_ok=True)
_lines = [",u,i,ts,label,idx"]
for _at in range(_count):
    _nodes = f"{_noise.integers(1, 21)},{_noise.integers(21, 41)}"
    _lines.append(f"{_at},{_nodes},{float(_at * 10)},{_at % 2},{_at + 1}")
Path("data/ml_made.csv").write_text("\n".join(_lines) + "\n")
numpy.save("data/ml_made.npy", _noise.random((_count + 1, 8)))
numpy.save("data/ml_made_node.npy", _noise.random((41, 8)))

_sample = random.sample


def _sample_of_set(population: Iterable[Any], count: int) -> list[Any]:
    """As it was before Python 3.11."""
    return _sample(sorted(population), count)


random.sample = _sample_of_set  # type: ignore[assignment]
