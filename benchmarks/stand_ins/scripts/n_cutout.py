"""Folders that a clone has; a ResNet of four blocks: what is measured is how it is trained."""

import os

import modules


def _change(resnet):
    resnet.ResNet18 = lambda num_classes=10: resnet.ResNet(resnet.BasicBlock, [1, 1, 1, 1], num_classes)


os.makedirs("logs", exist_ok=True)
os.makedirs("checkpoints", exist_ok=True)
modules.when_imported("model.resnet", _change)
