"""A table of prices."""

from pathlib import Path

import numpy

prices = numpy.random.default_rng(0).normal(size=(120, 5)).cumsum(axis=0) + 100
lines = ["A,B,C,D,NDX", *(",".join(f"{price:.3f}" for price in row) for row in prices)]
Path("prices.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
