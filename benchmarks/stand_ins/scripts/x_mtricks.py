"""An old name of the labels."""

import modules


def _change(module):
    module.CIFAR10.train_labels = property(lambda self: self.targets)


modules.when_imported("torchvision.datasets", _change)
