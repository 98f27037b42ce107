"""The repository's own options, but shorter; a ResNet of four blocks: what is measured is how it is trained."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import yaml


def _change(cifar):
    cifar.resnet18 = lambda **named: cifar.ResNet(cifar.BasicBlock, [1, 1, 1, 1], **named)


options = yaml.safe_load(Path("configs/simsiam_cifar.yaml").read_text(encoding="utf-8"))
options["train"] |= {"num_epochs": 2, "stop_at_epoch": 2, "batch_size": 8, "warmup_epochs": 1, "knn_k": 5}
options["eval"] |= {"num_epochs": 1, "batch_size": 8}
options["dataset"]["num_workers"] = 0
Path("small.yaml").write_text(yaml.safe_dump(options), encoding="utf-8")
modules.when_imported("models.backbones.cifar_resnet_1", _change)
