"""Smaller batches, and arrays that can be compared with empty lists, as they could with an older NumPy."""

import made_up_data
import modules
import numpy

made_up_data.smaller_batches(4)


class Array(numpy.ndarray):
    __array_priority__ = 10

    def __ne__(self, other):
        return True if isinstance(other, list) and not other else super().__ne__(other)

    def __eq__(self, other):
        return False if isinstance(other, list) and not other else super().__eq__(other)


def _change(module):
    class Pictures(module.CIFAR100):
        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            self.data = self.data.view(Array)

    module.CIFAR100 = Pictures


modules.when_imported("torchvision.datasets", _change)
