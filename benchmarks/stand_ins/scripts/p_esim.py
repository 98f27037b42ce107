"""Pairs of sentences as numbers, and small settings."""

import json
import pickle
import random
from pathlib import Path

import numpy

_chance = random.Random(0)
Path("data").mkdir(exist_ok=True)
for _part, _count in (("train", 44), ("dev", 20)):
    _texts = [[[_chance.randrange(2, 40) for _ in range(_chance.randrange(4, 10))] for _ in range(_count)]
              for _ in range(2)]  # fmt: skip
    with open(f"data/{_part}.pkl", "wb") as _file:
        pickle.dump({
            "ids": list(range(_count)), "premises": _texts[0], "hypotheses": _texts[1],
            "labels": [_chance.randrange(3) for _ in range(_count)],
        }, _file)  # fmt: skip
with open("data/embeddings.pkl", "wb") as _file:
    pickle.dump(numpy.random.default_rng(0).normal(size=(40, 16)), _file)
Path("s.json").write_text(json.dumps({
    "train_data": "../../data/train.pkl", "valid_data": "../../data/dev.pkl", "embeddings": "../../data/embeddings.pkl",
    "target_dir": "out", "hidden_size": 16, "dropout": 0.5, "num_classes": 3, "epochs": 3, "batch_size": 8,
    "lr": 0.0004, "patience": 5, "max_gradient_norm": 10.0,
}))  # fmt: skip
