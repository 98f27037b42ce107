"""A teacher that was not trained before; what draws and logs takes what it is given."""

import made_up_data  # noqa: F401
import modules
import scipy  # noqa: F401


def _change(module):
    before = module.select_model
    module.select_model = lambda **named: before(**{**named, "pretrained": False})


modules.put("scipy.misc")
modules.when_imported("models.selector", _change)
