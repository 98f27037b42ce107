"""A shallower network of the same kind, and smaller pictures."""

import made_up_data  # noqa: F401
import modules


def _change_models(module):
    from torchvision.models.resnet import BasicBlock, ResNet

    module.resnet50 = lambda **named: ResNet(BasicBlock, [1, 1, 1, 1], **named)


def _change_transforms(module):
    class Crop(module.RandomResizedCrop):
        def __init__(self, size, *given, **named):
            super().__init__(min(size, 32), *given, **named)

    module.RandomResizedCrop = Crop


modules.when_imported("torchvision.models", _change_models)
modules.when_imported("torchvision.transforms", _change_transforms)
