"""Fewer digits to choose from than are written into the text, and an older NumPy's way with whole numbers."""

import made_up_data  # noqa: F401
import modules
import numpy

numpy.int = lambda given: int(numpy.asarray(given).item())


def _fewer(module):
    before = module.MnistBags._create_bags

    def create(self):
        self.num_in_train, self.num_in_test = 200, 100
        return before(self)

    module.MnistBags._create_bags = create


modules.when_imported("dataloader", _fewer)
