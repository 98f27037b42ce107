"""Old names of what a data set holds, and pictures of one channel that are normalized as those of three were."""

import made_up_data  # noqa: F401
import modules


def _change_data(module):
    module.MNIST.train_data = property(lambda self: self.data)


def _change_transforms(module):
    class First(module.Normalize):
        def forward(self, tensor):
            count = tensor.shape[0]
            return module.functional.normalize(tensor, self.mean[:count], self.std[:count])

    module.Normalize = First


modules.when_imported("torchvision.datasets", _change_data)
modules.when_imported("torchvision.transforms", _change_transforms)
