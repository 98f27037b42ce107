"""People who walk."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
for _part, _people in (("train", 9), ("val", 3), ("test", 3)):
    _folder = Path(f"made/walks/{_part}")
    _folder.mkdir(parents=True, exist_ok=True)
    _rows = []
    for _person in range(_people):
        _path = _chance.normal(size=2) * 4 + _chance.normal(0.3, 0.2, (22, 2)).cumsum(axis=0)
        _rows += [f"{10 * step}\t{_person + 1}\t{x:.3f}\t{y:.3f}" for step, (x, y) in enumerate(_path)]
    (_folder / "walks.txt").write_text("\n".join(_rows) + "\n")
