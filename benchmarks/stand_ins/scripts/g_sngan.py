"""A module that draws nothing."""

import modules

modules.put("matplotlib.gridspec")
