"""A teacher whose weights are noise, and configurations without yacs."""

from pathlib import Path

import modules
import yaml


class _Node(dict):
    __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__

    def _merge(self, options):
        for key, value in options.items():
            if isinstance(value, dict):
                self[key]._merge(value)
            else:
                self[key] = value

    def merge_from_file(self, path):
        self._merge(yaml.safe_load(Path(path).read_text()))

    def merge_from_list(self, _):
        pass

    def freeze(self):
        pass

    def dump(self):
        return str(dict(self))


modules.put("yacs.config", CfgNode=_Node)
Path("made.yaml").write_text(
    "EXPERIMENT: {TAG: made}\nDISTILLER: {TYPE: DKD, TEACHER: resnet56, STUDENT: resnet56}\nLOG: {WANDB: false}\n"
    "DATASET: {NUM_WORKERS: 0, TEST: {BATCH_SIZE: 8}}\nSOLVER: {BATCH_SIZE: 8, EPOCHS: 3}\n"
)


def _change(module):
    import torch
    from torch import nn

    class Small(nn.Module):
        def __init__(self, num_classes=100):
            super().__init__()
            self.first, self.last = nn.Conv2d(3, 8, 5, 4), nn.Linear(8, num_classes)

        def forward(self, x):
            seen = self.first(x).relu().mean((2, 3))
            return self.last(seen), {"pooled_feat": seen}

    torch.save({"model": Small().state_dict()}, "made.pth")
    module.cifar_model_dict["resnet56"] = (Small, "made.pth")


modules.when_imported("mdistiller.models", _change)
