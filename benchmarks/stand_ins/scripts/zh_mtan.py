"""Rooms as pictures, with what is seen, how far it is and how it stands."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
for _part, _count in (("train", 5), ("val", 3)):
    for _kind in ("image", "label", "depth", "normal"):
        Path(f"made/{_part}/{_kind}").mkdir(parents=True, exist_ok=True)
    for _number in range(_count):
        _depth = _chance.random((32, 32, 1)).astype("float32")
        _depth[_chance.random((32, 32, 1)) < 0.1] = 0
        for _kind, _data in (
            ("image", _chance.random((32, 32, 3))), ("label", _chance.integers(-1, 13, (32, 32)).astype("float64")),
            ("depth", _depth), ("normal", _chance.normal(size=(32, 32, 3))),
        ):  # fmt: skip
            numpy.save(f"made/{_part}/{_kind}/{_number}.npy", _data)
