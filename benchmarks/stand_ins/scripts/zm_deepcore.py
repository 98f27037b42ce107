"""A library for larger data sets."""

import made_up_data  # noqa: F401
import modules

modules.put("prefetch_generator", BackgroundGenerator=modules.Anything)
