"""Prices of a share."""

import made_up_data  # noqa: F401
import modules
import numpy

_prices = numpy.exp(numpy.random.default_rng(0).normal(0, 0.01, 2330).cumsum())
modules.put("pandas", read_csv=lambda _: {"close": _prices})
