"""Sentences in two languages."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
_lines = []
for _number in range(50):
    _words = " ".join(f"w{'abcdefgh'[kind]}" for kind in _chance.integers(0, 8, _chance.integers(2, 6)))
    _lines.append(f"i am {_words}.\tje suis {_words}.")
Path("data").mkdir(exist_ok=True)
Path("data/eng-fra.txt").write_text("\n".join(_lines))
