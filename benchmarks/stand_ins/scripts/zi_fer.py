"""A table of faces, and what is learned on the GPU's halves."""

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)


class Faces:
    """As much of a table as is read."""

    def __init__(self, rows):
        self._rows, self.index = rows, range(len(rows))
        self.loc = {(number, name): value for number, row in enumerate(rows) for name, value in row.items()}

    def __len__(self):
        return len(self._rows)

    def __getitem__(self, name):
        if isinstance(name, list):
            return Faces([row for row, wanted in zip(self._rows, name, strict=True) if wanted])
        return Column(row[name] for row in self._rows)


class Column(list):
    def __eq__(self, other):
        return [one == other for one in self]

    __hash__ = None


def _read(_):
    parts = ["Training"] * 8 + ["PrivateTest"] * 3 + ["PublicTest"] * 3
    return Faces([
        {"emotion": int(_chance.integers(7)), "Usage": part,
         "pixels": " ".join(map(str, _chance.integers(0, 256, 48 * 48)))} for part in parts
    ])  # fmt: skip


modules.put("pandas", read_csv=_read)
