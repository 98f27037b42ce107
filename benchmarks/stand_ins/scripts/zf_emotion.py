"""Faces, small and grey, and what they show."""

import made_up_data
import modules
import numpy

_COUNTS = {"train": 30, "val": 14}
_chance = numpy.random.default_rng(0)


class Table:
    def __init__(self, count):
        self._kinds = _chance.integers(0, 7, count)

    def __len__(self):
        return len(self._kinds)

    def __getitem__(self, _):
        return self._kinds


def _read(path):
    return Table(_COUNTS["train" if "train" in str(path) else "val"])


for _part, _count in _COUNTS.items():
    made_up_data.folder_of_pictures(f"made/{_part}", _count, 48, 0, ".jpg", "L")
    from pathlib import Path

    for _number in range(_count):
        Path(f"made/{_part}/{_number:04d}.jpg").rename(f"made/{_part}/{_part}{_number}.jpg")
modules.put("pandas", read_csv=_read)
