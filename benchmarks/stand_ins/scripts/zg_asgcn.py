"""Sentences about restaurants, what they are about, and which words belong together."""

import pickle
from pathlib import Path

import made_up_data
import modules
import numpy

_chance = numpy.random.default_rng(0)
_words = made_up_data.words(800)
for _name in ("datasets/semeval14", "state_dict", "glove"):
    Path(_name).mkdir(parents=True, exist_ok=True)
for _part, _count in (("train", 36), ("test", 16)):
    _lines, _graphs = [], {}
    for _number in range(_count):
        _left, _right = int(_chance.integers(1, 5)), int(_chance.integers(1, 6))
        _all = _words[11 * _number : 11 * _number + _left + 1 + _right]
        _lines += [" ".join([*_all[:_left], "$T$", *_all[_left + 1 :]]), _all[_left], str(_number % 3 - 1)]
        _graphs[3 * _number] = (_chance.random((len(_all), len(_all))) < 0.3).astype("float32")
    _path = Path(f"datasets/semeval14/restaurant_{_part}.raw")
    _path.write_text("\n".join(_lines) + "\n")
    for _kind in ("graph", "tree"):
        Path(f"{_path}.{_kind}").write_bytes(pickle.dumps(_graphs))
Path("glove/glove.840B.300d.txt").write_text(
    "".join(f"w{number} {' '.join(f'{one:.3f}' for one in _chance.normal(size=16))}\n" for number in range(40))
)
modules.put("sklearn.metrics", f1_score=lambda *_, **__: 0.5)
