"""A vocabulary, its counts, and words with their contexts."""

import pickle
import random
from pathlib import Path

_words, _chance = [f"w{number}" for number in range(80)], random.Random(0)
Path("data").mkdir(exist_ok=True)
_pairs = [(_chance.randrange(80), [_chance.randrange(80) for _ in range(6)]) for _ in range(220)]
for _name, _value in {"idx2word": _words, "wc": {word: 1 + _chance.randrange(50) for word in _words},
                      "train": _pairs}.items():  # fmt: skip
    Path(f"data/{_name}.dat").write_bytes(pickle.dumps(_value))
