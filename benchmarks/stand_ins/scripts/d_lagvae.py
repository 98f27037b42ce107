"""Sentences of six to eight words."""

import random
from pathlib import Path

_chance = random.Random(0)
_folder = Path("datasets/synthetic_data")
_folder.mkdir(parents=True, exist_ok=True)
for _name, _count in (("train", 44), ("test", 20)):
    _lines = [
        " ".join(f"w{_chance.randrange(30)}" for _ in range(_chance.choice([6, 7, 8]))) + "\n" for _ in range(_count)
    ]
    (_folder / f"synthetic_{_name}.txt").write_text("".join(_lines))
