"""Volumes of slices with masks, 22 patients."""

from pathlib import Path
from typing import Any

import modules
import numpy
from PIL import Image

_noise = numpy.random.default_rng(0)
for _patient in range(22):
    _folder = Path(f"kaggle_3m/TCGA_XX_{_patient:04}_19960101")
    _folder.mkdir(parents=True, exist_ok=True)
    for _slice in range(1, 6):
        _stem = f"TCGA_XX_{_patient:04}_19960101_{_slice}"
        Image.fromarray(_noise.integers(30, 255, (40, 40, 3)).astype("uint8")).save(_folder / f"{_stem}.tif")
        _mask = numpy.zeros((40, 40), "uint8")
        _mask[10:20, 10:20] = 255
        Image.fromarray(_mask).save(_folder / f"{_stem}_mask.tif")
modules.put("medpy.filter.binary", largest_connected_component=lambda mask: mask > 0)
modules.put("tensorflow")


def _change(module: object) -> None:
    module.misc = modules.put("scipy.misc", toimage=lambda *_: modules.Anything())  # type: ignore[attr-defined]


modules.when_imported("scipy", _change)


def _change_transform(module: Any) -> None:
    rescale = module.rescale
    module.rescale = lambda *given, multichannel=False, **named: rescale(*given, channel_axis=-1, **named)


modules.when_imported("skimage.transform", _change_transform)
