"""Two folders of pictures, as much of OpenCV as a heat map needs, and a module of SciPy that is gone."""

import sys
import types

import made_up_data
import modules
import numpy
import scipy

for _kind, _count in (("trainA", 7), ("trainB", 9), ("testA", 3), ("testB", 4)):
    made_up_data.folder_of_pictures(f"dataset/made/{_kind}", _count, 64, 0)


def _resize(picture, size):
    rows = numpy.arange(size[1]) * picture.shape[0] // size[1]
    columns = numpy.arange(size[0]) * picture.shape[1] // size[0]
    return picture[rows][:, columns]


def _color(picture, _):
    return numpy.repeat(picture.reshape(*picture.shape[:2], 1), 3, 2)


modules.put(
    "cv2", resize=_resize, applyColorMap=_color, cvtColor=lambda picture, _: picture[..., ::-1], COLORMAP_JET=2,
    COLOR_RGB2BGR=4, imwrite=lambda *_: True,
)  # fmt: skip
scipy.misc = sys.modules["scipy.misc"] = types.ModuleType("scipy.misc")
