"""Birds of eight kinds as noise, a small network under a large one's name, and clusters in place of a library."""

import types
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
for _kind in range(1, 9):
    _folder = Path(f"Datasets/cub200/images/{_kind:03d}.kind{_kind}")
    _folder.mkdir(parents=True, exist_ok=True)
    for _number in range(11):
        _picture = _chance.integers(0, 120, (48, 48, 3)) + 15 * _kind
        Image.fromarray(_picture.clip(0, 255).astype("uint8")).save(_folder / f"{_number}.jpg")


class _Index:
    def __init__(self, *_):
        pass

    def add(self, given):
        self._kept = numpy.asarray(given)

    def search(self, given, count):
        distances = ((numpy.asarray(given)[:, None] - self._kept[None]) ** 2).sum(-1)
        return numpy.sort(distances, 1)[:, :count], distances.argsort(1)[:, :count]


class _Clustering:
    def __init__(self, size, count):
        self._count = count

    def train(self, given, index):
        self.centroids = numpy.asarray(given)[numpy.arange(self._count) * (len(given) // self._count)]


def _change(module):
    for name in ("RandomResizedCrop", "CenterCrop"):
        before = getattr(module, name)
        setattr(module, name, lambda size, before=before: before(40))
    resize = module.Resize
    module.Resize = lambda size: resize(44)


def _small(num_classes=1000, pretrained=None):
    import torch
    from torchvision.models.resnet import Bottleneck, ResNet

    class Norm(torch.nn.BatchNorm2d):
        """The script keeps those of the plain class as they are, which XLA cannot learn through."""

    network = ResNet(Bottleneck, [1, 1, 1, 1], width_per_group=16, norm_layer=Norm)
    network.last_linear = torch.nn.Linear(2048, num_classes)
    del network.fc
    return network


modules.put("pretrainedmodels", resnet50=_small, utils=types.ModuleType("utils"))
modules.put("pretrainedmodels.utils")
modules.put(
    "faiss", IndexFlatL2=_Index, Clustering=_Clustering, vector_float_to_array=lambda given: numpy.asarray(given)
)
modules.when_imported("torchvision.transforms", _change)
