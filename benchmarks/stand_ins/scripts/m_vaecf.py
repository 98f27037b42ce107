"""Who saw what, split as the script wants it; the top of an array by NumPy."""

import random
from pathlib import Path

import modules
import numpy

_chance = random.Random(0)
_folder = Path("d/pro_sg")
_folder.mkdir(parents=True, exist_ok=True)
(_folder / "unique_sid.txt").write_text("\n".join(map(str, range(150))) + "\n")


def _table(name: str, users: range, count: int) -> None:
    rows = [f"{user},{item}" for user in users for item in _chance.sample(range(150), count)]
    (_folder / f"{name}.csv").write_text("uid,sid\n" + "\n".join(rows) + "\n")


_table("train", range(110), 12)
for _name, _users in {"validation": range(110, 160), "test": range(160, 200)}.items():
    _table(f"{_name}_tr", _users, 8)
    _table(f"{_name}_te", _users, 4)
modules.put("bottleneck", argpartition=numpy.argpartition, __version__="1.5.0")
