"""Facts: subject, relation, object."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("data/made")
_folder.mkdir(parents=True, exist_ok=True)
_seen = [f"e{_chance.integers(120)}\tr{_chance.integers(5)}\te{_chance.integers(120)}" for _ in range(372)]
for _part, _lines in (("train", _seen[:360]), ("valid", _seen[360:367]), ("test", _seen[367:])):
    (_folder / f"{_part}.txt").write_text("\n".join(_lines) + "\n")
