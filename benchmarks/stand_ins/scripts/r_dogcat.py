"""60 pictures of cats and dogs, a small network, and meters that work as those of torchnet do."""

import sys
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
import pictures
from PIL import Image

Path("data/train").mkdir(parents=True, exist_ok=True)
Path("checkpoints").mkdir(exist_ok=True)
_data, _labels = pictures.noise(61, (64, 64, 3), 2, 1)
for _number, (_one, _label) in enumerate(zip(_data, _labels, strict=True)):
    Image.fromarray(_one).save(f"data/train/{'dog' if _label else 'cat'}.{_number}.jpg")


class _Mean:
    def __init__(self):
        self.reset()

    def reset(self):
        self._sum, self._count = 0.0, 0

    def add(self, value, n=1):
        self._sum, self._count = self._sum + value, self._count + n

    def value(self):
        return self._sum / max(self._count, 1), 0.0


class _Confusion:
    def __init__(self, k, normalized=False):
        self._k = k
        self.reset()

    def reset(self):
        self._counts = numpy.zeros((self._k, self._k), "int64")

    def add(self, predicted, target):
        predicted, target = predicted.cpu().numpy(), target.cpu().numpy()
        numpy.add.at(self._counts, (target, predicted.argmax(1)), 1)

    def value(self):
        return self._counts


_meter = modules.put("torchnet.meter", AverageValueMeter=_Mean, ConfusionMeter=_Confusion)
modules.put("torchnet").meter = _meter


class _Fire:
    def __call__(self):
        sys.modules["__main__"].train(model="Small", batch_size=8, num_workers=0, max_epoch=3, print_freq=2)


modules.put("fire", Fire=_Fire())


def _change(module):
    import torch
    from models.basic_module import BasicModule

    class Small(BasicModule):
        def __init__(self):
            super().__init__()
            self.model_name = "small"
            self.first, self.last = torch.nn.Conv2d(3, 4, 16, 16), torch.nn.Linear(4, 2)

        def forward(self, x):
            return self.last(self.first(x).relu().mean((2, 3)))

    module.Small = Small


modules.when_imported("models", _change)
