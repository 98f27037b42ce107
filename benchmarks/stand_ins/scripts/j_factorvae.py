"""Pictures of little shapes."""

from pathlib import Path

import numpy

_place = Path("made/dsprites-dataset")
_place.mkdir(parents=True, exist_ok=True)
_images = numpy.random.default_rng(0).integers(0, 2, (60, 64, 64)).astype("uint8")
numpy.savez(_place / "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz", imgs=_images)
