"""Batches of eight digits, under the names that they had."""

import made_up_data
import modules


def _change(module):
    class MNIST(module.MNIST):
        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            self.test_data, self.test_labels = self.data, self.targets

    module.MNIST = MNIST


modules.when_imported("torchvision.datasets", _change)
made_up_data.smaller_batches(8)
