"""The configuration of a small model."""

from pathlib import Path

import modules
import yaml

_given = yaml.safe_load(Path("configs/cifar10.yml").read_text())
_given["data"]["num_workers"] = 0
_given["model"] |= {"ch": 32, "ch_mult": [1, 2], "num_res_blocks": 1}
_given["diffusion"]["num_diffusion_timesteps"] = 20
_given["training"] = {"batch_size": 8, "n_epochs": 3, "n_iters": 30, "snapshot_freq": 6, "validation_freq": 5}
Path("configs/made.yml").write_text(yaml.safe_dump(_given))
modules.put("lmdb")
