"""Its settings, with a smaller batch and network."""

import json
from pathlib import Path

import made_up_data  # noqa: F401

Path("made.json").write_text(json.dumps({
    "epochs": 3, "batch_size": 6, "lr": 0.001, "save_path": "made.pt",
    "model_params": {"input_size": 784, "hidden_size": 16, "latent_size": 3},
}))  # fmt: skip
