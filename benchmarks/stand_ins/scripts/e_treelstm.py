"""Pairs of sentences with trees, and vectors of their words."""

from pathlib import Path
from typing import Any

import modules
import numpy

_noise = numpy.random.default_rng(0)
_words = [f"w{number}" for number in range(20)]
for _folder, _count in (("train", 14), ("dev", 4), ("test", 4)):
    _place = Path("made") / _folder
    _place.mkdir(parents=True, exist_ok=True)
    for _side in "ab":
        _texts, _trees = [], []
        for _ in range(_count):
            _long = int(_noise.integers(3, 6))
            _texts.append(" ".join(_noise.choice(_words, _long)))
            _trees.append(" ".join(str(0 if at == 0 else int(_noise.integers(1, at + 1))) for at in range(_long)))
        (_place / f"{_side}.toks").write_text("\n".join(_texts) + "\n")
        (_place / f"{_side}.parents").write_text("\n".join(_trees) + "\n")
    _marks = _noise.uniform(1, 5, _count)
    (_place / "sim.txt").write_text("\n".join(f"{mark:.1f}" for mark in _marks) + "\n")
Path("made/sick.vocab").write_text("\n".join(_words) + "\n")


def _save_vectors(torch: Any) -> None:
    torch.save(torch.zeros(24, 8).normal_(0, 0.05), "made/sick_embed.pth")


modules.when_imported("torch", _save_vectors)
