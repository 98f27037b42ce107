"""A game of two actions."""

import made_up_data  # noqa: F401
import poles

poles.put(8, 14)
