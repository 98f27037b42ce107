"""Speakers with spectrograms of 80 bands."""

import pickle
from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
_meta = []
for _speaker in range(6):
    Path(f"spmel/p{_speaker}").mkdir(parents=True, exist_ok=True)
    _files = [f"p{_speaker}/{number}.npy" for number in range(3)]
    for _file in _files:
        numpy.save(Path("spmel") / _file, _noise.random((24, 80)).astype("float32"))
    _meta.append([f"p{_speaker}", _noise.random(256).astype("float32"), *_files])
Path("spmel/train.pkl").write_bytes(pickle.dumps(_meta))
