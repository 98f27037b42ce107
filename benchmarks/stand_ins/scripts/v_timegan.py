"""Stays of several lengths with five values, as a table."""

from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
_lines = ["Idx,a,b,c,d,e"]
for _number in range(48):
    for _ in range(int(_chance.integers(3, 7))):
        _lines.append(",".join(map(str, [_number, *_chance.random(5).round(4)])))
Path("data").mkdir(exist_ok=True)
Path("data/stock.csv").write_text("\n".join(_lines) + "\n")


def _change(torch):
    import sys

    torch.utils.tensorboard = sys.modules["torch.utils.tensorboard"]


import modules  # noqa: E402

modules.when_imported("torch", _change)
