"""Pictures with and without rain, files of arrays that are kept in memory, and as much of OpenCV as is called."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
_folder = Path("made/RainTrainH")
_folder.mkdir(parents=True, exist_ok=True)
for _number in range(1, 8):
    for _name in ("rain", "norain"):
        Image.fromarray(_chance.integers(0, 255, (110, 120, 3)).astype("uint8")).save(
            _folder / f"{_name}-{_number}.png"
        )
_files = {}


class File:
    def __init__(self, path, mode="r"):
        self._kept = _files.setdefault(str(path), {})

    def create_dataset(self, key, data):
        self._kept[key] = data

    def keys(self):
        return self._kept.keys()

    def __getitem__(self, key):
        return self._kept[key]

    def close(self):
        pass


def _ratio(one, other, data_range=1.0):
    return 10 * numpy.log10(data_range**2 / max(float(((one - other) ** 2).mean()), 1e-9))


modules.put("h5py", File=File)
modules.put(
    "cv2", imread=lambda path: numpy.asarray(Image.open(path).convert("RGB"))[:, :, ::-1],
    split=lambda picture: tuple(picture[:, :, one] for one in range(3)), merge=lambda parts: numpy.stack(parts, 2),
)  # fmt: skip
modules.put("skimage.measure.simple_metrics", compare_psnr=_ratio)
