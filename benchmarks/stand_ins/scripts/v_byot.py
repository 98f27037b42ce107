"""An old module of torchvision that the script imports and does not use."""

import sys
import types

import modules


def _change(module):
    module.utils = sys.modules["torchvision.models.utils"] = types.ModuleType("torchvision.models.utils")


modules.when_imported("torchvision.models", _change)
