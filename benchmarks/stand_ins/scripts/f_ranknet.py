"""Queries with documents, each with as many as it happens to have."""

from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
_place = Path("data/mslr-web10k/Fold1")
_place.mkdir(parents=True, exist_ok=True)
for _name, _queries in (("train", 14), ("vali", 5)):
    _lines = []
    for _query in range(_queries):
        for _document in range(int(_noise.integers(3, 7))):
            _features = " ".join(f"{number}:{_noise.normal():.3f}" for number in range(1, 7))
            _lines.append(f"{_document % 3} qid:{_query + 1} {_features} \n")
    (_place / f"{_name}.txt").write_text("".join(_lines))
