"""Pictures of two sizes as a file that ``h5py`` would read, others as files, and what older libraries had."""

import sys
import types
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
import scipy
from PIL import Image

_chance = numpy.random.default_rng(0)


def _picture(height, width):
    return _chance.integers(0, 255, (height, width, 3)).astype("uint8")


class File(dict):
    def __init__(self, *_, **__):
        sizes = [(int(_chance.integers(18, 30)), int(_chance.integers(18, 30))) for _ in range(14)]
        super().__init__(
            HR={str(one): _picture(2 * h, 2 * w) for one, (h, w) in enumerate(sizes)},
            X2={str(one): _picture(h, w) for one, (h, w) in enumerate(sizes)},
        )

    def close(self):
        pass


Path("dataset/Urban100/x2").mkdir(parents=True, exist_ok=True)
for _number, (_height, _width) in enumerate(((20, 24), (24, 20), (20, 24))):
    Image.fromarray(_picture(_height, _width)).save(f"dataset/Urban100/x2/{_number}_LR.png")
    Image.fromarray(_picture(2 * _height, 2 * _width)).save(f"dataset/Urban100/x2/{_number}_HR.png")
modules.put("h5py", File=File)


scipy.misc = sys.modules["scipy.misc"] = types.ModuleType("scipy.misc")
modules.put(
    "skimage.measure",
    compare_psnr=lambda one, other, data_range: float(10 * numpy.log10(1 / ((one - other) ** 2).mean())),
)


def _change(module):
    module.clip_grad_norm = module.clip_grad_norm_


modules.when_imported("torch.nn.utils", _change)
