"""22 pictures for training and 9 for validation with their segments, and the options of a small network."""

import json
from pathlib import Path

import made_up_data  # noqa: F401
import numpy
from PIL import Image

_root = Path("made/VOCdevkit/VOC2012")
for _name in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"):
    (_root / _name).mkdir(parents=True, exist_ok=True)
_chance = numpy.random.default_rng(0)
for _split, _count in (("train", 45), ("val", 11)):
    _names = [f"{_split}{number}" for number in range(_count)]
    (_root / f"ImageSets/Segmentation/{_split}.txt").write_text("\n".join(_names) + "\n")
    for _one in _names:
        Image.fromarray(_chance.integers(0, 255, (64, 64, 3)).astype("uint8")).save(_root / f"JPEGImages/{_one}.jpg")
        _mask = numpy.kron(_chance.integers(0, 21, (8, 8)), numpy.ones((8, 8))).astype("uint8")
        Image.fromarray(_mask).save(_root / f"SegmentationClass/{_one}.png")
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
