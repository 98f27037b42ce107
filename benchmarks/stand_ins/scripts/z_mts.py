"""Hourly values of four things."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
_lines = ["date,0,1,2,OT"]
for _hour in range(150):
    _values = ",".join(f"{one:.4f}" for one in _chance.normal(size=4))
    _lines.append(f"2020-01-{_hour // 24 + 1:02d} {_hour % 24:02d}:00:00,{_values}")
Path("made/hours.csv").write_text("\n".join(_lines) + "\n")
modules.put("einops")
