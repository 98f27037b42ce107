"""Answers of students, in several numbers, and what is called of scikit-learn."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("data/assist2009_pid")
_folder.mkdir(parents=True, exist_ok=True)
for _split, _count in (("train", 54), ("valid", 30), ("test", 30)):
    _lines = []
    for _number in range(_count):
        _length = int(_chance.integers(5, 30))
        _lines.append(f"{_number}")
        for _first, _last in ((1, 60), (1, 20), (0, 2)):
            _lines.append(",".join(str(one) for one in _chance.integers(_first, _last, _length)))
    (_folder / f"assist2009_pid_{_split}1.csv").write_text("\n".join(_lines) + "\n")


def _area(targets, said):
    ones, zeros = said[targets == 1], said[targets == 0]
    return float((ones[:, None] > zeros[None]).mean())


modules.put(
    "sklearn.metrics", roc_auc_score=_area, accuracy_score=lambda one, other: float((one == other).mean()),
)  # fmt: skip
