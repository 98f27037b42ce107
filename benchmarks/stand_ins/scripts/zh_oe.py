"""Tiny pictures of what is not learned."""

import made_up_data  # noqa: F401
import modules
import pictures


def _change(module):
    import torch
    from PIL import Image

    class Tiny(torch.utils.data.Dataset):
        def __init__(self, transform=None):
            self._data, self._transform, self.offset = pictures.noise(23, (32, 32, 3), 3, 5)[0], transform, 0

        def __len__(self):
            return len(self._data)

        def __getitem__(self, index):
            return self._transform(Image.fromarray(self._data[(index + self.offset) % len(self)])), 0

    module.TinyImages = Tiny


modules.when_imported("utils.tinyimages_80mn_loader", _change)
modules.put("wand.image", Image=type("Image", (), {}))
modules.put("wand.api")
modules.put("wand.color")
modules.put("joblib")
