"""A heart beat."""

import pickle
from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
for _name in ("train", "test"):
    _place = Path(f"dataset/ecg/labeled/{_name}")
    _place.mkdir(parents=True, exist_ok=True)
    (_place / "chfdb_chf13_45590.pkl").write_bytes(pickle.dumps(_noise.normal(size=(40, 3)).tolist()))
