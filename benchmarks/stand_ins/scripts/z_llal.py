"""Smaller sizes in the configuration."""

import made_up_data  # noqa: F401
import modules


def _sizes(module):
    module.NUM_TRAIN, module.BATCH, module.SUBSET, module.ADDENDUM = 110, 8, 30, 20
    module.CYCLES, module.EPOCH, module.EPOCHL, module.TRIALS = 2, 3, 2, 1


modules.when_imported("config", _sizes)
