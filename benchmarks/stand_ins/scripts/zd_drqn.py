"""A game of two actions with episodes of several lengths."""

import made_up_data  # noqa: F401
import poles

poles.put(6, 9)
