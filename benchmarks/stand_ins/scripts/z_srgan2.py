"""Pictures, those for validation of several sizes, smaller batches, and a network that was not trained before."""

from pathlib import Path

import made_up_data
import modules
import numpy
from PIL import Image

made_up_data.smaller_batches(4)
_chance = numpy.random.default_rng(0)
for _split, _sizes in (("train", [(48, 56)] * 14), ("valid", [(40, 52), (44, 40), (48, 48), (40, 44), (52, 60)])):
    _folder = Path(f"data/DIV2K_{_split}_HR")
    _folder.mkdir(parents=True, exist_ok=True)
    for _number, _size in enumerate(_sizes):
        Image.fromarray(_chance.integers(0, 255, (*_size, 3)).astype("uint8")).save(_folder / f"{_number}.png")
for _name in ("epochs", "statistics"):
    Path(_name).mkdir(exist_ok=True)


def _untrained(module):
    before = module.vgg16
    module.vgg16 = lambda pretrained=False, **named: before(**named)


modules.when_imported("torchvision.models.vgg", _untrained)
