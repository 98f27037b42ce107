"""Pictures of 64 by 64 bits."""

from pathlib import Path

import modules
import numpy

_path = Path("data/dsprites-dataset/dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz")
_path.parent.mkdir(parents=True, exist_ok=True)
numpy.savez(_path, imgs=numpy.random.default_rng(0).integers(0, 2, (60, 64, 64)).astype("uint8"))
modules.put("visdom")
