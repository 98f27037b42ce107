"""Triples of a graph of knowledge."""

from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
Path("datasets/WN18").mkdir(parents=True, exist_ok=True)
for _split, _count in (("train", 53), ("valid", 5), ("test", 5)):
    _rows = [(int(one), int(two), int(three)) for one, two, three in _chance.integers(0, (20, 3, 20), (_count, 3))]
    Path(f"datasets/WN18/{_split}.txt").write_text("".join(f"e{one}\tr{two}\te{three}\n" for one, two, three in _rows))
