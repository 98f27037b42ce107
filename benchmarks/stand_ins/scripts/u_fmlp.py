"""Items that users bought, one after the other, and for each user some that were not bought."""

from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
Path("data").mkdir(exist_ok=True)
_seen = [[int(one) for one in _chance.integers(1, 60, int(_chance.integers(5, 9)))] for _ in range(20)]
Path("data/Beauty.txt").write_text(
    "\n".join(" ".join(map(str, [number + 1, *items])) for number, items in enumerate(_seen)) + "\n"
)
Path("data/Beauty_sample.txt").write_text("\n".join(
    " ".join(map(str, [number + 1, *(int(one) for one in _chance.integers(1, 60, 19))])) for number in range(20)
) + "\n")  # fmt: skip
