"""Digits as bytes, and what makes pictures smaller."""

import gzip
import struct
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
for _folder in ("mnist", "made"):
    Path(_folder).mkdir(exist_ok=True)
for _part, _count in (("train", 20), ("t10k", 9)):
    for _kind, _shape, _most in (("images-idx3", (_count, 28, 28), 256), ("labels-idx1", (_count,), 10)):
        _data = _chance.integers(0, _most, _shape).astype("uint8")
        with gzip.open(f"mnist/{_part}-{_kind}-ubyte.gz", "wb") as _file:
            _file.write(struct.pack(">HBB", 0, 8, len(_shape)) + struct.pack(f">{len(_shape)}I", *_shape))
            _file.write(_data.tobytes())


def _resize(picture, size, interpolation=None):
    rows, columns = (numpy.arange(one) * 28 // one for one in (size[1], size[0]))
    return picture[rows][:, columns]


modules.put(
    "cv2", resize=_resize, INTER_NEAREST=0, THRESH_BINARY=0,
    threshold=lambda picture, least, most, _: (least, (picture > least) * numpy.uint8(most)),
)  # fmt: skip
modules.when_imported("numpy", lambda module: setattr(module, "fromstring", module.frombuffer))
