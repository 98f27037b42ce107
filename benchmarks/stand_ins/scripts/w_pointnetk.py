"""Meshes of three kinds, with several numbers of faces, and as much of ``path`` as is called."""

import os
import sys
import types
from pathlib import Path as _Path

import numpy

_chance = numpy.random.default_rng(0)
for _kind in ("bed", "desk", "sofa"):
    for _split, _count in (("train", 5), ("test", 3)):
        _folder = _Path("made") / _kind / _split
        _folder.mkdir(parents=True, exist_ok=True)
        for _number in range(_count):
            _points, _faces = int(_chance.integers(8, 20)), int(_chance.integers(10, 30))
            _lines = ["OFF", f"{_points} {_faces} 0"]
            _lines += [" ".join(f"{one:.4f}" for one in _chance.normal(size=3)) for _ in range(_points)]
            _lines += [
                "3 " + " ".join(str(one) for one in _chance.choice(_points, 3, replace=False)) for _ in range(_faces)
            ]
            (_folder / f"{_kind}_{_number:04d}.off").write_text("\n".join(_lines) + "\n")


class Path(str):
    def __truediv__(self, other):
        return Path(os.path.join(self, other))

    def __rtruediv__(self, other):
        return Path(os.path.join(other, self))

    def __add__(self, other):
        return Path(str(self) + other)


_module = types.ModuleType("path")
_module.Path = Path
sys.modules["path"] = _module
