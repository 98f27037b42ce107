"""Plots that nobody sees."""

import made_up_data  # noqa: F401
import modules

modules.put("matplotlib.patches")
modules.put("mpl_toolkits.mplot3d")
