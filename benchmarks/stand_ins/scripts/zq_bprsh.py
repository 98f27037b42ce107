"""What 24 people have liked, for training and for testing."""

import pickle
from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
_liked = [[int(item) for item in _chance.choice(40, 6, replace=False)] for _ in range(24)]
_said = {
    "user_size": 24, "item_size": 40, "train_user_list": [one[:4] for one in _liked],
    "test_user_list": [one[4:] for one in _liked],
    "train_pair": [(user, item) for user, one in enumerate(_liked) for item in one[:4]],
}  # fmt: skip
Path("made.pickle").write_bytes(pickle.dumps(_said))
