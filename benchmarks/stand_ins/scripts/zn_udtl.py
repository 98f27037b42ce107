"""Vibrations of bearings, whole and broken, at two speeds."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy
import scipy.io

_chance = numpy.random.default_rng(0)
for _shift in (0, 1):
    for _kind, _first in enumerate((97, 105, 118, 130, 169, 185, 197, 209, 222, 234)):
        _folder = Path("made") / ("12k Drive End Bearing Fault Data" if _kind else "Normal Baseline Data")
        _folder.mkdir(parents=True, exist_ok=True)
        _number = _first + _shift
        _waves = numpy.sin(numpy.arange(5200) * (0.02 + 0.01 * _kind)) + 0.2 * _chance.normal(size=5200)
        scipy.io.savemat(_folder / f"{_number}.mat", {f"X{_number:03d}_DE_time": _waves[:, None]})
