"""Pictures of noise as CIFAR's own files, and batches of 16."""

import collections
import collections.abc
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import pictures
import yaml

for _name in ("Mapping", "Sequence"):
    setattr(collections, _name, getattr(collections.abc, _name))
modules.put("torch._six", string_classes=str, int_classes=int)
del __import__("sys").modules["torch"]
modules.put("faiss")


class _Options(dict):
    __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__


modules.put("easydict", EasyDict=_Options)
_options = yaml.safe_load(Path("configs/pretext/simclr_cifar10.yml").read_text())
_options.update(epochs=3, batch_size=16, num_workers=0)
Path("exp.yml").write_text(yaml.safe_dump(_options))
Path("env.yml").write_text("root_dir: made\n")
Path("made").mkdir(exist_ok=True)


def _change(module):
    class Cifar(module.Dataset):
        def __init__(self, train=True, transform=None, download=False, root=None):
            self.data, self.targets = pictures.noise(120 if train else 24, (32, 32, 3), 10, 1 + train)
            self.transform, self.classes = transform, [str(number) for number in range(10)]

        def __len__(self):
            return len(self.data)

        def __getitem__(self, index):
            image = module.Image.fromarray(self.data[index])
            image = image if self.transform is None else self.transform(image)
            return {"image": image, "target": self.targets[index], "meta": {"im_size": (32, 32), "index": index}}

    module.CIFAR10 = Cifar


modules.when_imported("data.cifar", _change)
modules.put("termcolor", colored=lambda text, *_: text)


def _change_memory(module):
    import sys

    if "torch_xla" in sys.modules:  # its port moves to CUDA by a method of its own
        module.MemoryBank.cuda = lambda self: self.to("xla")


modules.when_imported("utils.memory", _change_memory)
