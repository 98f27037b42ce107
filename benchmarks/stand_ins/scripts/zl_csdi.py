"""Hours of patients, of which most were not measured, and a small configuration."""

import pickle
from pathlib import Path

import modules
import numpy
import yaml

modules.put("linear_attention_transformer", LinearAttentionTransformer=modules.Anything)
_chance = numpy.random.default_rng(0)
for _folder in ("data", "save"):
    Path(_folder).mkdir(exist_ok=True)
_masks = (_chance.random((30, 48, 35)) < 0.4).astype("float32")
_given = _masks * (_chance.random(_masks.shape) < 0.9)
Path("data/physio_missing0.1_seed1.pk").write_bytes(
    pickle.dumps([_chance.normal(size=_masks.shape) * _masks, _masks, _given.astype("float32")])
)
Path("config/made.yaml").write_text(yaml.safe_dump({
    "train": {"epochs": 3, "batch_size": 4, "lr": 0.001, "itr_per_epoch": 1.0e8},
    "diffusion": {
        "layers": 2, "channels": 8, "nheads": 2, "diffusion_embedding_dim": 8, "beta_start": 0.0001, "beta_end": 0.5,
        "num_steps": 4, "schedule": "quad", "is_linear": False,
    },
    "model": {"is_unconditional": 0, "timeemb": 8, "featureemb": 4, "target_strategy": "random"},
}))  # fmt: skip
