"""Digits as rows of a table, and a small configuration."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
import yaml

_chance = numpy.random.default_rng(0)
Path("data/mnist").mkdir(parents=True, exist_ok=True)
for _name, _count in (("train", 29), ("test", 20)):
    with Path(f"data/mnist/{_name}.npy").open("wb") as _file:
        numpy.save(_file, _chance.integers(0, 255, (_count, 28, 28)).astype("float32"))
        numpy.save(_file, numpy.arange(_count) % 10)
_path = Path("config/mnist.yaml")
_settings = yaml.safe_load(_path.read_text())
_settings |= {"dims": [24, 24], "epochs": 2, "batch_size": 4, "validate": True, "training_data_ratio": 0.8}
_settings |= {"scheduler": True, "mlflow": False, "profile": False}
_path.write_text(yaml.safe_dump(_settings))
modules.put("datatable")
modules.put("texttable", Texttable=modules.Anything)
