"""45 pictures for training and 11 for validation with their segments, and the options of a small network."""

import json
from pathlib import Path

import made_up_data  # noqa: F401
import pictures

pictures.segmented({"train": 45, "val": 11}, (64, 64), 8)
_options = json.loads(Path("config.json").read_text())
_options["arch"] = {"type": "ENet", "args": {"freeze_bn": False}}
for _key, _split, _size in (("train_loader", "train", 8), ("val_loader", "val", 4)):
    _options[_key] = {"type": "VOC", "args": {
        "data_dir": "made", "batch_size": _size, "split": _split, "shuffle": _split == "train",
        "val": _split == "val", "augment": False, "num_workers": 0,
    }}  # fmt: skip
_options["optimizer"]["differential_lr"] = False
_options["trainer"].update(epochs=3, val_per_epochs=1, save_period=10)
Path("made.json").write_text(json.dumps(_options))
