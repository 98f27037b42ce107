"""Old names of the pictures and labels, which the script changes."""

import made_up_data  # noqa: F401
import modules


def _change(module):
    def put(self, value):
        self.targets = value

    module.CIFAR10.train_labels = property(lambda self: self.targets, put)
    module.CIFAR10.train_data = property(lambda self: self.data, lambda self, value: setattr(self, "data", value))


modules.when_imported("torchvision.datasets", _change)
