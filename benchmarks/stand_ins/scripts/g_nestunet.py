"""Pictures with masks; nothing is done to them."""

from typing import Any

import made_up_data
import modules

made_up_data.folder_of_pictures("inputs/made/images", 26, 32, 0)
made_up_data.folder_of_pictures("inputs/made/masks/0", 26, 32, 0, mode="L")


def _read(path: str, flag: int | None = None) -> Any:
    import numpy
    from PIL import Image

    return numpy.asarray(Image.open(path).convert("RGB" if flag is None else "L"))


def _compose(_: Any, **__: Any) -> Any:
    return lambda image, mask: {"image": image, "mask": mask}


modules.put("cv2", imread=_read, IMREAD_GRAYSCALE=0)
modules.put("albumentations.augmentations.transforms")
modules.put("albumentations.core.composition", Compose=_compose, OneOf=modules.Anything)
