"""A game by its shape."""

import games
import made_up_data  # noqa: F401

games.install()
