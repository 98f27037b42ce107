"""Sessions of items that were looked at, and the item that came next."""

import pickle
import random
from pathlib import Path

_chance = random.Random(0)
Path("diginetica").mkdir(exist_ok=True)
for _part, _count in (("train", 80), ("test", 28)):
    _sessions = [[_chance.randrange(1, 400) for _ in range(_chance.randrange(2, 10))] for _ in range(_count)]
    with open(f"diginetica/{_part}.txt", "wb") as _file:
        pickle.dump((_sessions, [_chance.randrange(1, 400) for _ in range(_count)]), _file)
