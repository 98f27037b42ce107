"""Pictures of three clients."""

from pathlib import Path

import modules
import numpy

for _name in ("h5py", "cvxpy", "calmsize"):
    modules.put(_name)
_noise = numpy.random.default_rng(0)
for _name, _count in (("train", 44), ("test", 23)):
    _place = Path(f"../dataset/MNIST/{_name}")
    _place.mkdir(parents=True, exist_ok=True)
    for _client in range(3):
        _data = {
            "x": _noise.random((_count + _client, 1, 28, 28)).astype("float32"),
            "y": _noise.integers(0, 10, _count + _client),
        }
        numpy.savez(_place / f"{_client}.npz", data=_data)
