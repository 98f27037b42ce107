"""Ratings of films, and what is known of the films: as the preparation of the data writes them."""

from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
Path("../data/movie").mkdir(parents=True, exist_ok=True)
for _path in Path("../data/movie").glob("*_final.*"):
    _path.unlink()
_pairs = _chance.permutation(360)[:115]  # of 12 users and 30 films
numpy.savetxt("../data/movie/ratings_final.txt", [(p % 12, p // 12, (p + p // 12) % 2) for p in _pairs], fmt="%d")
_facts = []
for _head in range(60):
    _kinds, _tails = _chance.integers(0, 4, 4), _chance.integers(0, 60, 4)
    _facts += [(_head, int(kind), int(tail)) for kind, tail in zip(_kinds, _tails, strict=True)]
numpy.savetxt("../data/movie/kg_final.txt", _facts, fmt="%d")
