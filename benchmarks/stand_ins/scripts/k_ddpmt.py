"""The configuration of a small model."""

import json
from pathlib import Path

import made_up_data  # noqa: F401 - libraries that are not installed

_given = json.loads(Path("configs/cifar10.json").read_text())
_given["diffusion"]["timesteps"] = 6
_given["model"] |= {"hid_channels": 32, "ch_multipliers": [1, 2], "num_res_blocks": 1, "apply_attn": [False, True]}
_given["train"] |= {"batch_size": 8, "epochs": 2, "warmup": 5}
Path("configs/made.json").write_text(json.dumps(_given))
