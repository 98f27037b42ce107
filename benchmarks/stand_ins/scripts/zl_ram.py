"""Patches of plots, and a logger."""

import made_up_data  # noqa: F401
import modules

modules.put("matplotlib.patches")
