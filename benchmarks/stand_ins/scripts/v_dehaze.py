"""Pictures and, for each, some with haze; old names of Pillow and PyTorch."""

from pathlib import Path

import modules
import numpy
import PIL.Image

_chance = numpy.random.default_rng(0)
Path("data/images").mkdir(parents=True, exist_ok=True)
Path("data/data").mkdir(parents=True, exist_ok=True)
for _number in range(10):
    _picture = _chance.integers(0, 255, (60, 80, 3)).astype("uint8")
    PIL.Image.fromarray(_picture).save(f"data/images/NYU2_{_number}.jpg")
    for _haze in range(3):
        _veiled = PIL.Image.fromarray((_picture // 2 + 30 * _haze).astype("uint8"))
        _veiled.save(f"data/data/NYU2_{_number}_{_haze}_1.jpg")
PIL.Image.ANTIALIAS = PIL.Image.LANCZOS


def _change(module):
    module.clip_grad_norm = module.clip_grad_norm_


modules.when_imported("torch.nn.utils", _change)
