"""A shallower network of the script's own blocks."""

import made_up_data  # noqa: F401
import modules


def _change(module):
    module.resnet50_cifar = lambda size: module.ResNet_CIFAR(module.BasicBlock_CIFAR, [1, 1, 1, 1], size)


modules.when_imported("models", _change)
