"""Cars of noise with their masks, small ones, under the path that the script names."""

import made_up_data
import modules
import numpy


class _Cars:
    def __init__(self, root, test=False):
        self._chance = numpy.random.default_rng(0)
        self._pictures = self._chance.random((47, 3, 64, 64)).astype("float32")

    def __len__(self):
        return len(self._pictures)

    def __getitem__(self, index):
        import torch

        picture = torch.from_numpy(self._pictures[index])
        return picture, (picture[:1] > 0.5).float()


def _change(module):
    module.CarvanaDataset = _Cars


def _change_saving(torch):
    torch.save = lambda *_, **__: None  # there is no such drive




made_up_data.smaller_batches(4)
modules.when_imported("carvana_dataset", _change)
modules.when_imported("torch", _change_saving)
