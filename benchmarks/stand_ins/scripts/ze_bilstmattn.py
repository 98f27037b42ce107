"""Reviews, good and bad."""

from pathlib import Path

import made_up_data

for _part, _count in (("train", 22), ("test", 10)):
    for _seed, _kind in enumerate(("pos", "neg")):
        _folder = Path("datasets/aclImdb") / _part / _kind
        _folder.mkdir(parents=True, exist_ok=True)
        for _number in range(_count):
            _text = made_up_data.words(20 + 3 * _number, seed=2 * _number + _seed)
            (_folder / f"{_number}.txt").write_text(" ".join(_text))
