"""A game of two actions; nothing is drawn."""

import made_up_data  # noqa: F401
import modules
import poles
import scipy  # noqa: F401

poles.put(9, 14)
modules.put("scipy.misc")
modules.when_imported("scipy.interpolate", lambda module: setattr(module, "spline", None))
