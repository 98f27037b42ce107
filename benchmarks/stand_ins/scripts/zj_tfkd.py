"""Settings of a small student, and a teacher that was not trained before."""

import json
from pathlib import Path

import made_up_data  # noqa: F401
import modules

Path("made").mkdir(exist_ok=True)
Path("made/params.json").write_text(json.dumps({
    "model_version": "alexnet_distill", "teacher": "alexnet", "subset_percent": 1.0, "augmentation": "yes",
    "dataset": "cifar100", "alpha": 0.9, "temperature": 20, "multiplier": 1.0, "learning_rate": 0.1, "batch_size": 4,
    "num_epochs": 3, "num_workers": 0, "save_summary_steps": 2, "cuda": 1,
}))  # fmt: skip
modules.when_imported("utils", lambda module: setattr(module, "load_checkpoint", lambda *_, **__: None))
