"""The configuration of the repository, with a small model, few epochs and few samples in a batch."""

import json
from pathlib import Path

import modules

modules.put("mlflow.pytorch")

Path("made").mkdir(exist_ok=True)
_config = json.loads(Path("config_cifar10.json").read_text())
_config["data_loader"]["args"].update(data_dir="made/", batch_size=8, num_workers=0)
_config["trainer"].update(epochs=2, mlflow=False)
Path("made.json").write_text(json.dumps(_config))
