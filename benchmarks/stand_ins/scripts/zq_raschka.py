"""Batches of eight digits, and parts of a data set that is far larger."""

import made_up_data
import modules


def _change(module):
    before = module.Subset.__init__

    def init(self, dataset, indices):
        some = indices[:: max(1, len(indices) // 37)]
        before(self, dataset, [int(one) % len(dataset) for one in some])

    module.Subset.__init__ = init


modules.when_imported("torch.utils.data.dataset", _change)
made_up_data.smaller_batches(8)
