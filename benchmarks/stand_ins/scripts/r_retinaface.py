"""30 pictures of 64 by 64 with one to three faces each."""

from pathlib import Path

import modules
import numpy

Path("weights").mkdir(exist_ok=True)


def _change(module):
    module.cfg_mnet.update(image_size=64, batch_size=4, epoch=3, pretrain=False, in_channel=32, out_channel=16)

    class Faces(module.WiderFaceDetection):
        def __init__(self, *_):
            self._chance = numpy.random.default_rng(0)

        def __len__(self):
            return 26

        def __getitem__(self, index):
            import torch

            faces = self._chance.random((int(self._chance.integers(1, 4)), 15)) * 0.4
            faces[:, 2:4] += 0.5
            faces[:, 14] = 1
            return torch.rand(3, 64, 64), faces

    module.WiderFaceDetection = Faces


modules.when_imported("data", _change)
