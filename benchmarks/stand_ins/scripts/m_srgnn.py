"""Sessions: lists of items of other lengths, and the item that came next."""

import pickle
import random
from pathlib import Path

_chance = random.Random(0)
_folder = Path("../datasets/sample")
_folder.mkdir(parents=True, exist_ok=True)
for _name, _count in {"train": 160, "test": 60}.items():
    _sessions = [[_chance.randrange(1, 310) for _ in range(_chance.randrange(1, 12))] for _ in range(_count)]
    (_folder / f"{_name}.txt").write_bytes(pickle.dumps((_sessions, [_chance.randrange(1, 310) for _ in _sessions])))
