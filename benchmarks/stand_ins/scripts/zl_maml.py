"""Pictures of several classes, and a small configuration."""

import pickle
from pathlib import Path

import numpy
import pictures
import yaml

_folder = Path("materials/mini-imagenet")
_folder.mkdir(parents=True, exist_ok=True)
for _seed, _split in enumerate(("train_phase_train", "val")):
    _data, _ = pictures.noise(40, (84, 84, 3), 5, _seed)
    (_folder / f"{_split}.pickle").write_bytes(
        pickle.dumps({"data": _data, "labels": [int(one) for one in numpy.arange(40) % 5]})
    )
_episodes = {
    "image_size": 84, "normalization": True, "transform": "flip", "n_batch": 3, "n_episode": 2, "n_way": 3, "n_shot": 1,
    "n_query": 2,
}  # fmt: skip
Path("made.yaml").write_text(yaml.safe_dump({
    "dataset": "meta-mini-imagenet", "train": {"split": "meta-train", **_episodes},
    "val": {"split": "meta-val", **_episodes, "n_batch": 2}, "encoder": "convnet4",
    "encoder_args": {"bn_args": {"track_running_stats": False}}, "classifier": "logistic",
    "inner_args": {"n_step": 2, "encoder_lr": 0.01, "classifier_lr": 0.01, "first_order": False, "frozen": ["bn"]},
    "optimizer": "adam", "optimizer_args": {"lr": 0.001}, "epoch": 3,
}))  # fmt: skip
