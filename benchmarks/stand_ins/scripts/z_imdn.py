"""Pictures in two sizes, of which those for validation differ in size, and what is called of scikit-image."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
for _name, _size in (("DIV2K_HR", 96), ("DIV2K_LR_bicubic/x2", 48)):
    _folder = Path("training_data/DIV2K_decoded") / _name
    _folder.mkdir(parents=True, exist_ok=True)
    for _number in range(9):
        numpy.save(_folder / f"{_number}.npy", _chance.integers(0, 255, (_size, _size, 3)).astype("uint8"))
for _name, _times in (("Set5", 2), ("Set5_LR/x2", 1)):
    _folder = Path("Test_Datasets") / _name
    _folder.mkdir(parents=True, exist_ok=True)
    for _number, (_height, _width) in enumerate(((32, 32), (36, 28), (32, 24))):
        _picture = _chance.integers(0, 255, (_height * _times, _width * _times, 3)).astype("uint8")
        Image.fromarray(_picture).save(_folder / f"{_number}.png")


def _luminance(picture):
    return (picture / 255.0) @ numpy.array(
        [[65.481, -37.797, 112.0], [128.553, -74.203, -93.786], [24.966, 112, -18.214]]
    ) + (16, 128, 128)


def _noise_ratio(one, other, data_range=255, **_):
    return 10 * numpy.log10(data_range**2 / max(((one.astype(float) - other) ** 2).mean(), 1e-9))


modules.put("skimage.color", rgb2ycbcr=_luminance)
modules.put(
    "skimage.measure", compare_psnr=_noise_ratio, compare_ssim=lambda one, other, **_: float((one == other).mean())
)
