"""Pictures of leaves in folders, a small network by the name of a large one, and smaller sizes in the configuration."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
for _folder, _count in [(f"data/train/{one}", 6) for one in range(4)] + [("data/test", 3)]:
    Path(_folder).mkdir(parents=True, exist_ok=True)
    for _number in range(_count):
        Image.fromarray(_chance.integers(0, 255, (70, 80, 3)).astype("uint8")).save(f"{_folder}/{_number}.jpg")


def _smaller(module):
    from torchvision.models.resnet import Bottleneck, ResNet

    module.resnet50 = lambda *_, **__: ResNet(Bottleneck, [1, 1, 1, 1])


def _sizes(module):
    found = module.config
    found.img_height = found.img_width = 64
    found.epochs, found.batch_size, found.num_classes = 3, 3, 4


modules.when_imported("torchvision.models", _smaller)
modules.when_imported("config", _sizes)
