"""Smaller batches, and a smaller network, not trained before."""

import made_up_data
import modules

made_up_data.smaller_batches(30)


def _change(module):
    from torch import nn

    class Small(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(
                nn.Conv2d(3, 256, 16, 16), nn.BatchNorm2d(256), nn.ReLU(), nn.AdaptiveAvgPool2d(6)
            )
            layers = nn.Linear(256 * 36, 16), nn.ReLU(), nn.Dropout(), nn.Linear(16, 4096)
            self.classifier = nn.Sequential(nn.Dropout(), *layers)

    module.alexnet = lambda **_: Small()


modules.when_imported("torchvision.models", _change)
