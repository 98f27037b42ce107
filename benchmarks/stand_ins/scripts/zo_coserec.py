"""What 29 people bought, in the order of time."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("../data").mkdir(exist_ok=True)
_lines = [
    f"{user} " + " ".join(str(int(item)) for item in _chance.choice(range(1, 31), 6 + user % 7, replace=False))
    for user in range(1, 30)
]
Path("../data/made.txt").write_text("\n".join(_lines) + "\n")
modules.put("gensim.models")
