"""As much of OpenCV as is called: pictures are moved by whole pixels."""

import made_up_data  # noqa: F401
import modules
import numpy


def _moved(picture, matrix, *_, **__):
    return numpy.roll(picture, (int(matrix[1][2]), int(matrix[0][2])), axis=(0, 1))


modules.put(
    "cv2", INTER_CUBIC=2, INTER_LINEAR=1, INTER_NEAREST=0, INTER_AREA=3, INTER_LANCZOS4=4, BORDER_REFLECT_101=4,
    BORDER_CONSTANT=0, BORDER_REPLICATE=1, BORDER_REFLECT=2, warpAffine=_moved,
)  # fmt: skip

import PIL  # noqa: E402

PIL.PILLOW_VERSION = PIL.__version__  # its name in older versions
