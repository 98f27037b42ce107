"""A teacher that was not taught."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules

Path("made").mkdir(exist_ok=True)


def _teacher(module):
    def load(*_, **__):
        import lenet

        return lenet.LeNet5()

    module.load = load


modules.when_imported("torch", _teacher)


def _digits(module):
    module.mnist.MNIST = module.MNIST


modules.when_imported("torchvision.datasets", _digits)
