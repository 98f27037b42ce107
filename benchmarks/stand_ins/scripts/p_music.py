"""Pieces of music as numbers."""

import pickle
from pathlib import Path

import modules
import numpy

_noise = numpy.random.default_rng(0)
for _part, _count in (("train", 18), ("val", 6), ("test", 6)):
    Path(f"dataset/e_piano/{_part}").mkdir(parents=True, exist_ok=True)
    for _number in range(_count):
        with open(f"dataset/e_piano/{_part}/{_number}.pickle", "wb") as _file:
            pickle.dump(_noise.integers(0, 380, int(_noise.integers(20, 60))).tolist(), _file)
modules.put("third_party.midi_processor.processor")
