"""A ResNet of four blocks: what is measured is how it is trained."""

import made_up_data  # noqa: F401
import modules


def _change(resnet):
    resnet.resnet34 = lambda **named: (resnet.ResNet(resnet.BasicBlock, [1, 1, 1, 1], **named), 512)


modules.when_imported("resnet", _change)
