"""Digits of a few users, who have different numbers of them."""

import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import pictures

for _split, _seed in (("train", 1), ("test", 2)):
    _folder = Path(f"data/mnist/data/{_split}")
    _folder.mkdir(parents=True, exist_ok=True)
    _data, _targets = pictures.noise(150, (28, 28), 10, _seed)
    _users, _first = {}, 0
    for _number in range(6):
        _last = _first + (12 + 3 * _number if _split == "train" else 5)
        _users[_number] = {"x": list(_data[_first:_last]), "y": _targets[_first:_last]}
        _first = _last
    (_folder / "made_niid.pkl").write_bytes(
        pickle.dumps({"users": list(_users), "user_data": _users, "num_samples": []})
    )
