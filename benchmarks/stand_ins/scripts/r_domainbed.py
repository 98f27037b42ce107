"""Data sets of another library are not needed."""

import made_up_data  # noqa: F401
import modules

modules.put("wilds.datasets.camelyon17_dataset", Camelyon17Dataset=object)
modules.put("wilds.datasets.fmow_dataset", FMoWDataset=object)
modules.put("backpack", backpack=None, extend=lambda one: one)
modules.put("backpack.extensions", BatchGrad=object)
modules.put("timm")
