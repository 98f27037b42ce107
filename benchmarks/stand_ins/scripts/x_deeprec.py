"""Ratings of users, as many as a user happened to give."""

from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
_lines = {"train": [], "valid": []}
for _user in range(45):
    for _place, _item in enumerate(_chance.choice(60, int(_chance.integers(5, 25)), replace=False)):
        _lines["valid" if _place < 2 and _user < 20 else "train"].append(f"{_user}\t{_item}\t{_chance.integers(1, 6)}")
_lines["train"] += [f"45\t{_item}\t3" for _item in range(60)]
for _split, _one in _lines.items():
    Path(f"made/{_split}").mkdir(parents=True, exist_ok=True)
    Path(f"made/{_split}/part.txt").write_text("\n".join(_one) + "\n")
