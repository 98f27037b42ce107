"""Taxis called for in 58 regions, hour by hour, and which of them are near or alike."""

from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
Path("data").mkdir(exist_ok=True)
_near = {name: _chance.random((58, 58)) for name in ("neighbor_adj", "trans_adj", "semantic_adj")}
_near = {name: (one + one.T) / 2 for name, one in _near.items()}
numpy.savez("data/data_dict.npz", taxi=_chance.poisson(5, (24 * 40, 58, 1)).astype("float64"), **_near)
