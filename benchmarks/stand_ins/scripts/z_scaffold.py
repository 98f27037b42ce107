"""Hours of wind in ten zones, with the time as a number."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("data/Wind/Task 1/Task1_W_Zone1_10")
_folder.mkdir(parents=True, exist_ok=True)
for _zone in range(1, 11):
    _lines = ["ZONEID,TIMESTAMP,TARGETVAR,U10,V10,U100,V100"]
    for _hour in range(240):
        _values = ",".join(f"{one:.4f}" for one in (_chance.random(), *_chance.normal(size=4)))
        _lines.append(f"{_zone},{_hour},{_values}")
    (_folder / f"Task1_W_Zone{_zone}.csv").write_text("\n".join(_lines) + "\n")
