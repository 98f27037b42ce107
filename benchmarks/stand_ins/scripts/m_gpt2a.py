"""Lines of words and a vocabulary."""

import random
from pathlib import Path

_chance = random.Random(0)
_words = [f"w{number}" for number in range(50)]
Path("v.txt").write_text("\n".join(["<unk>", *_words]) + "\n")
for _name in ("t", "e"):
    _lines = (" ".join(_chance.choices(_words, k=_chance.randrange(4, 14))) for _ in range(80))
    Path(f"{_name}.txt").write_text("\n".join(_lines) + "\n")
