"""Each kind of digit often enough."""

import made_up_data  # noqa: F401
import modules
import pictures


def _change(module):
    import torch

    class Digits(module.MNIST):
        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            self.targets = self.labels = torch.arange(len(self.data)) % 10

    module.MNIST = Digits


pictures.install()
modules.when_imported("torchvision.datasets", _change)
