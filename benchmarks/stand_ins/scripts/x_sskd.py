"""Pictures in the files of CIFAR-100, a trained teacher, and an old name of PyTorch."""

import hashlib  # noqa: F401
import pickle
import types
from pathlib import Path

import modules
import pictures

_folder = Path("data/cifar-100-python")
_folder.mkdir(parents=True, exist_ok=True)
for _split, _count, _seed in (("train", 36, 1), ("test", 20, 2)):
    _data, _labels = pictures.noise(_count, (3, 32, 32), 100, _seed)
    _kept = {"data": _data.reshape(_count, -1), "fine_labels": _labels}
    (_folder / _split).write_bytes(pickle.dumps(_kept))
(_folder / "meta").write_bytes(pickle.dumps({"fine_label_names": [f"c{one}" for one in range(100)]}))


def _change_torch(torch):
    torch._six = types.SimpleNamespace(string_classes=(str,))


def _change_models(module):
    import torch

    Path("made/t_resnet14_0/ckpt").mkdir(parents=True, exist_ok=True)
    teacher = module.model_dict["resnet14"](num_classes=100)
    torch.save({"state_dict": teacher.state_dict()}, "made/t_resnet14_0/ckpt/best.pth")


modules.when_imported("torch", _change_torch)
modules.when_imported("models", _change_models)
