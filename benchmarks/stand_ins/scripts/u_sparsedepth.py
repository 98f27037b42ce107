"""Rooms of 60 by 80 pixels with their depth, smaller networks' pictures, and functions that SciPy had."""

import sys
import types
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
import scipy.ndimage

for _split, _count in (("train", 22), ("val", 5)):
    _folder = Path(f"data/nyudepthv2/{_split}/room")
    _folder.mkdir(parents=True, exist_ok=True)
    for _number in range(_count):
        (_folder / f"{_number:04d}.h5").write_text("")


class _File(dict):
    def __init__(self, path, mode):
        chance = numpy.random.default_rng(sum(map(ord, str(path))))
        depth = chance.random((60, 80)) * 9
        depth[chance.random((60, 80)) < 0.1] = 0
        super().__init__(rgb=chance.integers(0, 255, (3, 60, 80)).astype("uint8"), depth=depth.astype("float32"))


def _resized(picture, size, interpolation="bilinear", mode=None):
    from PIL import Image

    picture = numpy.asarray(picture)
    height, width = (int(size * one) for one in picture.shape[:2]) if isinstance(size, float) else size
    shown = Image.fromarray(picture.astype("float32") if picture.ndim == 2 else picture.astype("uint8"))
    return numpy.asarray(shown.resize((width, height)))


def _change(module):
    module.iheight = 60
    before = module.NYUDataset.__init__

    def init(self, *given, **named):
        before(self, *given, **named)
        self.output_size = (56, 64)

    module.NYUDataset.__init__ = init
    resize = module.transforms.Resize
    module.transforms.Resize = lambda size: resize(size * 60 / 240 if size > 2 else size)


def _change_numpy(module):
    if "asfarray" not in module.__dict__:
        module.asfarray = lambda given, dtype="float64": module.asarray(given, dtype=dtype)


def _change_models(module):
    before = module.resnet18
    module.resnet18 = lambda pretrained=False: before(weights=None)


modules.put("matplotlib.pyplot", cm=types.SimpleNamespace(viridis=lambda given: numpy.dstack([given] * 4)))
modules.put("h5py", File=_File)
_misc = types.ModuleType("scipy.misc")
_misc.imresize = _resized
sys.modules["scipy.misc"], sys.modules["scipy.ndimage.interpolation"] = _misc, scipy.ndimage
modules.when_imported("dataloaders.nyu_dataloader", _change)
_change_numpy(numpy)
modules.when_imported("torchvision.models", _change_models)
