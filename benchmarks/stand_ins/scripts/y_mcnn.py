"""Pictures of crowds, of several sizes as the real ones, their densities, and as much of OpenCV as is called."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
for _split, _count in (("train", 9), ("test", 4)):
    _folder = f"D:\\workspaceMaZhenwei\\GithubProject\\MCNN-pytorch\\data\\Shanghai_part_A\\{_split}_data\\"
    for _name in ("images", "ground_truth"):
        Path(_folder + _name).mkdir(exist_ok=True)
    for _number in range(_count):
        _size = [(72, 96), (64, 102), (80, 64)][int(_chance.integers(3))]
        _picture = _chance.integers(0, 255, (*_size, 3)).astype("uint8")
        Image.fromarray(_picture).save(f"{_folder}images/{_number}.jpg")
        numpy.save(f"{_folder}ground_truth/{_number}.npy", _chance.random(_size).astype("float32"))


def _resize(picture, size):
    if picture.dtype != "uint8":
        return numpy.asarray(Image.fromarray(picture).resize(size))
    return numpy.asarray(Image.fromarray(numpy.ascontiguousarray(picture)).resize(size))


modules.put("cv2", resize=_resize)
modules.put("matplotlib.pyplot", imread=lambda path: numpy.asarray(Image.open(path)))
