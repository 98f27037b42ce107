"""What was bought in order, of several lengths, and what it is like."""

import json
from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
Path("data").mkdir(exist_ok=True)
_lines = [
    f"{_user} {' '.join(str(one) for one in _chance.integers(1, 41, int(_chance.integers(5, 14))))}"
    for _user in range(44)
]
Path("data/made.txt").write_text("\n".join(_lines) + "\n")
Path("data/made_item2attributes.json").write_text(json.dumps({str(one): [one % 7 + 1] for one in range(1, 41)}))
