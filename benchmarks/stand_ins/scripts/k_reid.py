"""A network without its weights, and libraries that are not installed."""

import made_up_data  # noqa: F401 - libraries that are not installed
import modules


def _change(module):
    make = module.resnet50
    module.resnet50 = lambda *_, **__: make()


modules.when_imported("torchvision.models", _change)
