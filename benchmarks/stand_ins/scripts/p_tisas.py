"""Items that users rated, and when."""

import random
from pathlib import Path

_chance = random.Random(0)
Path("data").mkdir(exist_ok=True)
_lines = [
    f"{user}\t{_chance.randrange(1, 60)}\t5\t{1000 + 40 * number + _chance.randrange(30)}"
    for user in range(1, 41) for number in range(_chance.randrange(6, 14))
]  # fmt: skip
Path("data/made.txt").write_text("\n".join(_lines) + "\n")
