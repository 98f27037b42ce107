"""One small experiment in place of the long one, and names that data sets had in older versions of torchvision."""

import json
import os
from pathlib import Path

import modules

os.environ.setdefault("TRAINING_DATA", "made")
Path("federated_learning.json").write_text(
    json.dumps(
        {
            "main": [
                {
                    "dataset": ["mnist"],
                    "net": ["logistic"],
                    "iterations": [10],
                    "n_clients": [4],
                    "participation_rate": [0.5],
                    "classes_per_client": [10],
                    "batch_size": [4],
                    "balancedness": [1.0],
                    "momentum": [0.9],
                    "compression": [["stc_updown", {"p_up": 0.05, "p_down": 0.05}]],
                    "log_frequency": [4],
                    "log_path": ["results/made/"],
                }
            ]
        }
    )
)


def _change(module):
    for split in ("train", "test"):
        setattr(module.MNIST, f"{split}_data", property(lambda self: self.data))
        setattr(module.MNIST, f"{split}_labels", property(lambda self: self.targets))


modules.when_imported("torchvision.datasets", _change)
