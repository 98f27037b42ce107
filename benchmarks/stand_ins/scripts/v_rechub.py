"""Clicks on advertisements, with numbers and kinds, as a table; what is known of a package that is not installed."""

import importlib.metadata
from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
_names = ["label", *(f"I{one}" for one in range(1, 5)), *(f"C{one}" for one in range(1, 6))]
_lines = [",".join(_names)]
for _number in range(125):
    _values = [int(_chance.integers(0, 2)), *(int(one) for one in _chance.integers(0, 40, 4))]
    _lines.append(",".join(map(str, [*_values, *(f"k{one}" for one in _chance.integers(0, 9, 5))])))
Path("data/criteo").mkdir(parents=True, exist_ok=True)
Path("data/criteo/criteo_sample.csv").write_text("\n".join(_lines) + "\n")
_before = importlib.metadata.metadata
importlib.metadata.metadata = lambda name: (
    {"Name": name, "Version": "1", "Summary": "", "Author": "", "License": "", "Home-page": ""}
    if name == "torch-rechub" else _before(name)
)
