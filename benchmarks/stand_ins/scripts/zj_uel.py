"""Old names of what a data set holds."""

import made_up_data  # noqa: F401
import modules


def _change(module):
    for new, old in (("data", "data"), ("targets", "labels")):
        for part in ("train", "test"):
            setattr(module.CIFAR10, f"{part}_{old}", property(lambda self, new=new: getattr(self, new)))


modules.when_imported("torchvision.datasets", _change)
modules.put("hickle")


def _change_network(module):
    module.ResNet18 = lambda **named: module.ResNet(module.BasicBlock, [1, 1, 1, 1], **named)


modules.when_imported("models.resnet_cifar", _change_network)
