"""A ResNet of four blocks: what is measured is how it is trained."""

import made_up_data  # noqa: F401
import modules


def _change(models):
    resnet = models.resnet
    models.resnet18 = lambda *_, **__: resnet.ResNet(resnet.BasicBlock, [1, 1, 1, 1])
    models.resnet50 = lambda *_, **__: resnet.ResNet(resnet.Bottleneck, [1, 1, 1, 1])


modules.when_imported("torchvision.models", _change)
