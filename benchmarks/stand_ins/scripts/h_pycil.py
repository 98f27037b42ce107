"""Settings for few pictures."""

import json
from pathlib import Path
from typing import Any

import modules

Path("made.json").write_text(json.dumps({
    "prefix": "made", "dataset": "cifar10", "memory_size": 40, "memory_per_class": 4, "fixed_memory": False,
    "shuffle": True, "init_cls": 5, "increment": 5, "model_name": "finetune", "convnet_type": "resnet32",
    "device": ["0"], "seed": [1993],
}))  # fmt: skip


def _change(module: Any) -> None:
    module.init_epoch = module.epochs = 2
    module.batch_size = 16


modules.when_imported("models.finetune", _change)


def _same(module: Any) -> None:
    module.cifar.CIFAR10 = module.CIFAR10


modules.when_imported("torchvision.datasets", _same)
