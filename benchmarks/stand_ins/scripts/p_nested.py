"""Pictures, what each of their pixels shows, and transforms that only change their size."""

from typing import Any

import made_up_data
import modules


class Resize:
    """The one transform that is there."""

    def __init__(self, height: int = 0, width: int = 0) -> None:
        self.size = width, height

    def __call__(self, image: Any, mask: Any) -> dict[str, Any]:
        import cv2

        mask = cv2.resize(mask, self.size)
        return {"image": cv2.resize(image, self.size), "mask": mask if mask.ndim == 3 else mask[..., None]}


class Compose(Resize):
    """Does what the first one with a size does."""

    def __init__(self, given: list[Any], *_: Any, **__: Any) -> None:
        self.size = next(one.size for one in given if isinstance(one, Resize) and one.size[0])


class Nothing:
    """Takes everything, changes nothing."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass


_names = ("RandomRotate90", "Flip", "HueSaturationValue", "RandomBrightness", "RandomContrast", "Normalize")
modules.put("albumentations.augmentations.transforms", Resize=Resize, **dict.fromkeys(_names, Nothing))
modules.put("albumentations.core.composition", Compose=Compose, OneOf=Nothing)
modules.put("albumentations", RandomRotate90=Nothing, Resize=Resize)
made_up_data.folder_of_pictures("inputs/made/images", 22, 32, 0)
made_up_data.folder_of_pictures("inputs/made/masks/0", 22, 32, 0, mode="L")
