"""Hours with three values, as a table, and a counter of operations that runs the model once, as the real one does."""

import datetime
from pathlib import Path

import modules
import numpy

_chance = numpy.random.default_rng(0)
_start = datetime.datetime(2020, 1, 1)
_lines = ["date,a,b,OT"]
for _number in range(240):
    _values = numpy.sin(_number / 4 + numpy.arange(3)) + _chance.normal(0, 0.1, 3)
    _lines.append(f"{_start + datetime.timedelta(hours=_number)}," + ",".join(f"{one:.4f}" for one in _values))
Path("made").mkdir(exist_ok=True)
Path("made/made.csv").write_text("\n".join(_lines) + "\n")


def _profile(model, inputs):
    model(*inputs)
    return 0.0, 0.0


modules.put("thop", profile=_profile)
modules.put("einops")
