"""Molecules of several sizes as graphs, proteins of several lengths as words, and whether they go together."""

import pickle
from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("../dataset/human/input/radius2_ngram3")
_folder.mkdir(parents=True, exist_ok=True)
for _name in ("result", "model"):
    Path(f"../output/{_name}").mkdir(parents=True, exist_ok=True)
_kept = {"compounds": [], "adjacencies": [], "proteins": [], "interactions": []}
for _number in range(20):
    _size = int(_chance.integers(5, 12))
    _bonds = _chance.random((_size, _size)) < 0.3
    _kept["compounds"].append(_chance.integers(0, 30, _size))
    _kept["adjacencies"].append((_bonds | _bonds.T | numpy.eye(_size, dtype=bool)).astype("float32"))
    _kept["proteins"].append(_chance.integers(0, 60, int(_chance.integers(20, 40))))
    _kept["interactions"].append(numpy.array([_number % 2]))
for _name, _values in _kept.items():
    _whole = numpy.empty(len(_values), dtype=object)
    for _number, _value in enumerate(_values):
        _whole[_number] = _value
    numpy.save(_folder / f"{_name}.npy", _whole, allow_pickle=True)
(_folder / "fingerprint_dict.pickle").write_bytes(pickle.dumps({one: one for one in range(30)}))
(_folder / "word_dict.pickle").write_bytes(pickle.dumps({one: one for one in range(60)}))
_load = numpy.load
numpy.load = lambda path, **named: _load(path, **{"allow_pickle": True, **named})
