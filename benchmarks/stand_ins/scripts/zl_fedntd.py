"""A small configuration, and the name of a device."""

import json
from pathlib import Path

import modules

Path("made.json").write_text(json.dumps({
    "data_setups": {
        "root": "./data", "dataset_name": "cifar10", "batch_size": 4, "n_clients": 5,
        "partition": {"method": "sharding", "shard_per_user": 2},
    },
    "train_setups": {
        "algo": {"name": "fedntd", "params": {"tau": 1, "beta": 1}},
        "scenario": {"n_rounds": 4, "sample_ratio": 0.4, "local_epochs": 2, "device": "xla:0"},
        "model": {"name": "fedavg_cifar", "params": {}},
        "optimizer": {"params": {"lr": 0.01, "momentum": 0.9, "weight_decay": 1e-5}},
        "scheduler": {"enabled": True, "name": "step", "params": {"gamma": 0.99, "step_size": 1}},
        "seed": 2022,
    },
    "wandb_setups": {"project": "made", "group": "fedntd", "name": "fedntd"},
}))  # fmt: skip


def _named(cuda):
    cuda.get_device_name = lambda *_: "made"


modules.when_imported("torch.cuda", _named)
