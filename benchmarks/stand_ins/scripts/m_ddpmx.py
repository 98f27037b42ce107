"""Digits as files, and a small configuration."""

from pathlib import Path

import numpy
import yaml
from PIL import Image

_noise = numpy.random.default_rng(0)
for _digit in range(3):
    Path(f"data/train/images/{_digit}").mkdir(parents=True, exist_ok=True)
    for _number in range(10):
        _picture = Image.fromarray(_noise.integers(0, 255, (28, 28)).astype("uint8"))
        _picture.save(f"data/train/images/{_digit}/{_number}.png")
Path("c.yaml").write_text(yaml.safe_dump({
    "dataset_params": {"im_path": "data/train/images"},
    "diffusion_params": {"num_timesteps": 10, "beta_start": 0.0001, "beta_end": 0.02},
    "model_params": {
        "im_channels": 1, "im_size": 28, "down_channels": [16, 16, 32, 32], "mid_channels": [32, 32, 16],
        "down_sample": [True, True, False], "time_emb_dim": 16, "num_down_layers": 1, "num_mid_layers": 1,
        "num_up_layers": 1, "num_heads": 2,
    },
    "train_params": {
        "task_name": "t", "batch_size": 8, "num_epochs": 4, "num_samples": 4, "num_grid_rows": 2, "lr": 0.001,
        "ckpt_name": "c.pth",
    },
}))  # fmt: skip
