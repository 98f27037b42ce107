"""A table of four series by the hour."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy
import pandas

Path("made").mkdir(exist_ok=True)
_table = pandas.DataFrame(numpy.random.default_rng(0).normal(size=(260, 4)), columns=["a", "b", "c", "OT"])
_table.insert(0, "date", pandas.date_range("2020-01-01", periods=260, freq="h"))
_table.to_csv("made/made.csv", index=False)
