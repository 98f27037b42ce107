"""Digits of two kinds, as noise, in place of files."""

import made_up_data  # noqa: F401
import modules
import pictures


def _digits(name, count, with_index):
    import torch

    class Digits(torch.utils.data.Dataset):
        def __init__(self, root, train=True, transform=None, download=False):
            self._data, self._labels = pictures.noise(count if train else 21, (28, 28), 10, 1 + train)
            self._transform = transform

        def __len__(self):
            return len(self._data)

        def __getitem__(self, index):
            from PIL import Image

            picture = self._transform(Image.fromarray(self._data[index], mode="L"))
            return (picture, self._labels[index], index) if with_index else (picture, self._labels[index])

    Digits.__name__ = name
    return Digits


def _change(kind, count):
    def change(module):
        setattr(module, kind, _digits(kind, count, False))
        setattr(module, f"{kind}_idx", _digits(f"{kind}_idx", count, True))

    return change


modules.when_imported("data_load.mnist", _change("MNIST", 52))
modules.when_imported("data_load.usps", _change("USPS", 44))
