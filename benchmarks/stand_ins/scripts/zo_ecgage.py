"""Heartbeats of twelve leads and the ages, and a method that tables of pandas had."""

from pathlib import Path

import h5py
import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
with h5py.File("made/traces.h5", "w") as _file:
    _file["tracings"] = _chance.normal(size=(36, 256, 12)).astype("float32")
Path("made/ages.csv").write_text("age\n" + "".join(f"{int(age)}\n" for age in _chance.integers(20, 80, 36)))


def _change(pandas):
    def append(self, row, ignore_index=False):
        return pandas.concat([self, pandas.DataFrame([row])], ignore_index=ignore_index)

    pandas.DataFrame.append = append


modules.when_imported("pandas", _change)
