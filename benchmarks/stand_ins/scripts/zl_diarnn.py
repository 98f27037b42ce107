"""Talks of several lengths, by features of what was said."""

import pickle
from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
_names = [f"talk{one}" for one in range(19)]
_speakers, _labels, _text, _sound, _sight, _said = {}, {}, {}, {}, {}, {}
for _name in _names:
    _length = int(_chance.integers(2, 5))
    _speakers[_name] = ["MF"[int(one)] for one in _chance.integers(0, 2, _length)]
    _labels[_name] = [int(one) for one in _chance.integers(0, 6, _length)]
    for _kept in (_text, _sound, _sight):
        _kept[_name] = [_chance.normal(size=100).astype("float32") for _ in range(_length)]
    _said[_name] = ["said"] * _length
Path("IEMOCAP_features").mkdir(exist_ok=True)
_all = ({}, _speakers, _labels, _text, _sound, _sight, _said, _names[:14], _names[14:])
Path("IEMOCAP_features/IEMOCAP_features_raw.pkl").write_bytes(pickle.dumps(_all))
