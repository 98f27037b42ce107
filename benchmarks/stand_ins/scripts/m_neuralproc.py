"""A small configuration."""

import json
from pathlib import Path

Path("c.json").write_text(json.dumps({
    "img_size": [1, 14, 14], "batch_size": 16, "r_dim": 16, "h_dim": 16, "z_dim": 16, "num_context_range": [3, 20],
    "num_extra_target_range": [0, 20], "lr": 1e-3, "epochs": 4, "dataset": "mnist",
}))  # fmt: skip
