"""A table of four series by the hour."""

from pathlib import Path

import numpy
import pandas

Path("d").mkdir(exist_ok=True)
_table = pandas.DataFrame(numpy.random.default_rng(0).normal(size=(300, 4)), columns=["a", "b", "c", "OT"])
_table.insert(0, "date", pandas.date_range("2020-01-01", periods=300, freq="h"))
_table.to_csv("d/x.csv", index=False)
