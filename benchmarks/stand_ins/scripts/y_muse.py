"""Words of two languages with vectors, which mean the same, and what an older Python had."""

import inspect
from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
_turn = numpy.linalg.qr(_chance.normal(size=(20, 20)))[0]
_first = _chance.normal(size=(83, 20))
for _name, _rows in (("en", _first), ("es", _first @ _turn)):
    _lines = ["83 20"]
    _lines += [f"{_name}{one} " + " ".join(f"{value:.4f}" for value in row) for one, row in enumerate(_rows)]
    Path(f"made/{_name}.vec").write_text("\n".join(_lines) + "\n")
Path("made/pairs.txt").write_text("".join(f"en{one} es{one}\n" for one in range(0, 83, 2)))
if not hasattr(inspect, "getargspec"):
    inspect.getargspec = lambda function: inspect.getfullargspec(function)[:4]
