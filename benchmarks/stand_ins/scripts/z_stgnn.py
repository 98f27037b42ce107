"""Flows on a few roads."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
numpy.savez("made/flows.npz", data=_chance.uniform(10, 90, (130, 6, 1)))
numpy.save("made/places.npy", _chance.normal(size=(6, 8)))
