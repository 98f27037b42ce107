"""Plots that show nothing."""

import made_up_data  # noqa: F401
import modules

modules.put("mpl_toolkits.mplot3d")
