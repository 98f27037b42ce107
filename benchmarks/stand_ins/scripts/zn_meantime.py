"""Ratings with the time of each, a dictionary whose keys are attributes, and the name of the device."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("Data/ml-1m")
_folder.mkdir(parents=True, exist_ok=True)
for _name in ("README", "movies.dat", "users.dat"):
    (_folder / _name).write_text("made\n")
_lines = [
    f"{user}::{int(item)}::{int(_chance.integers(1, 6))}::{978300000 + 40000 * number + 700 * user}"
    for user in range(1, 30)
    for number, item in enumerate(_chance.choice(40, 7 + user % 7, replace=False))
]
(_folder / "ratings.dat").write_text("\n".join(_lines) + "\n")


class _Map(dict):
    def __init__(self, given=(), _dynamic=True):
        super().__init__(given)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value

    def toDict(self):
        return dict(self)


_Map.__module__, _Map.__qualname__, _Map.__name__ = "dotmap", "DotMap", "DotMap"
modules.put("dotmap", DotMap=_Map)
modules.put("paramiko")
modules.put("wget")
_path = Path("templates/train_meantime.yaml")
_path.write_text(_path.read_text().replace("device: cuda", "device: xla"))
