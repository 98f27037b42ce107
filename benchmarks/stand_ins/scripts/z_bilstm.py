"""Sentences with tags, of several lengths."""

import json
from pathlib import Path

import made_up_data
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
Path("made/vocab.json").write_text(json.dumps([f"w{one}" for one in range(40)]))
Path("made/tags.json").write_text(json.dumps(["O", "B", "I"]))
_lines = []
for _number in range(62):
    _words = made_up_data.words(int(_chance.integers(4, 14)), seed=_number)
    _tags = ["B" if one == "w1" else "I" if one == "w2" else "O" for one in _words]
    _lines.append(f"{json.dumps(_words)}\t{json.dumps(_tags)}")
Path("made/dataset.txt").write_text("\n".join(_lines) + "\n")
