"""What people bought, and for each what they did not."""

from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
Path("data").mkdir(exist_ok=True)
_bought, _others = "", ""
for _user in range(11):
    _items = _chance.permutation(40)[: 5 + _user % 3] + 1
    _bought += f"{_user} " + " ".join(map(str, _items)) + "\n"
    _others += f"{_user} " + " ".join(map(str, _chance.integers(1, 41, 19))) + "\n"
Path("data/Beauty.txt").write_text(_bought)
Path("data/Beauty_sample.txt").write_text(_others)
