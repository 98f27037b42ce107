"""Edges of two kinds, and some that are none."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("made")
_folder.mkdir(exist_ok=True)


def _edges(count):
    return [(number % 2 + 1, number // 2 % 14, int(_chance.integers(0, 14))) for number in range(count)]


(_folder / "train.txt").write_text(
    "".join(f"{kind} {one} {(one + 1 + other) % 14}\n" for kind, one, other in _edges(56))
)
for _part in ("valid", "test"):
    _lines = [f"{kind} {one} {other} {number // 2 % 2}" for number, (kind, one, other) in enumerate(_edges(16))]
    (_folder / f"{_part}.txt").write_text("\n".join(_lines) + "\n")
_walks = [
    f"{layer} " + " ".join(str((node + step) % 14) for step in range(4)) for layer in range(2) for node in range(14)
]
(_folder / "walks.txt").write_text("\n".join(_walks) + "\n")
