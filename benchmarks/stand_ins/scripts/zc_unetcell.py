"""Pictures of cells as noise, with masks, and what libraries would give."""

import made_up_data  # noqa: F401
import modules
import numpy


def _cells(module):
    class Dataset(module.torch.utils.data.Dataset):
        def __init__(self, img_ids, **_):
            self.img_ids = img_ids

        def __len__(self):
            return len(self.img_ids)

        def __getitem__(self, place):
            chance = numpy.random.default_rng(place)
            picture = chance.random((3, 16, 16)).astype("float32")
            return picture, (picture[:1] > 0.5).astype("float32"), {"img_id": str(place)}

    module.Dataset = Dataset


modules.when_imported("dataset", _cells)
modules.put("sklearn.model_selection", train_test_split=lambda *_, **__: (list(range(18)), list(range(6))))
for _name in ("albumentations.augmentations", "albumentations.core.composition", "pandas"):
    modules.put(_name)
