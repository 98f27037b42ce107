"""Sentences with names in them, of several lengths, and vectors of words."""

from pathlib import Path

import made_up_data
import numpy

_chance = numpy.random.default_rng(0)
for _name in ("made", "models", "evaluation/temp"):
    Path(_name).mkdir(parents=True, exist_ok=True)
Path("evaluation/conlleval").write_text("#!/bin/sh\necho made\n")
for _split, _count in (("train", 30), ("dev", 8), ("test", 8)):
    _lines = []
    for _number in range(_count):
        for _word in made_up_data.words(int(_chance.integers(3, 14)), seed=_number + _count):
            _lines.append(f"{_word} NN I-NP {'B-PER' if _word in ('w1', 'w2') else 'B-LOC' if _word == 'w3' else 'O'}")
        _lines.append("")
    Path(f"made/{_split}").write_text("\n".join(_lines) + "\n")
Path("made/vectors.txt").write_text(
    "".join(f"w{one} {' '.join(f'{value:.3f}' for value in _chance.normal(size=16))}\n" for one in range(40))
)
