"""A game of two actions, with short episodes."""

import made_up_data  # noqa: F401
import poles

poles.put(2, 5)
