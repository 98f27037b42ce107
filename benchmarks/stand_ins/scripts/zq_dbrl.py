"""What twelve people looked at, with their features and those of the things."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
Path("resources").mkdir(exist_ok=True)
_rows = []
for _user in range(12):
    for _step in range(10):
        _item = (_user + _step) % 12
        _person = (_user % 2, 1 + _user % 4, 1 + _user % 3)
        _rows.append((_user, _item, int(_chance.integers(0, 2)), _step, *_person, _item % 3, _item % 4, _item % 5))
Path("resources/tianchi.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in _rows))
