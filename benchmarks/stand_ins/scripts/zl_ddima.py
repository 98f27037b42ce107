"""A small configuration, and paths of an older library."""

import pathlib
import typing

import modules
import yaml

modules.put("pathlib2", Path=pathlib.Path, Iterable=typing.Iterable)
pathlib.Path("made").mkdir(exist_ok=True)
pathlib.Path("config.yml").write_text(yaml.safe_dump({
    "Model": {
        "in_channels": 3, "out_channels": 3, "model_channels": 32, "attention_resolutions": [2], "num_res_blocks": 1,
        "dropout": 0.1, "channel_mult": [1, 2], "conv_resample": True, "num_heads": 2,
    },
    "Dataset": {
        "dataset": "cifar", "train": True, "data_path": "./data", "download": True, "image_size": [32, 32],
        "mode": "RGB", "suffix": ["png", "jpg"], "batch_size": 4, "shuffle": True, "drop_last": False,
        "pin_memory": True, "num_workers": 0,
    },
    "Trainer": {"T": 20, "beta": [0.0001, 0.02]}, "Callback": {"filepath": "./made/cifar10.pth", "save_freq": 1},
    "device": "xla", "epochs": 3, "consume": False, "consume_path": "./made/cifar10.pth", "lr": 0.0002,
}))  # fmt: skip
