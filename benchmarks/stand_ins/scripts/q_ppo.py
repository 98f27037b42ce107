"""A game by its shapes."""

import games
import made_up_data  # noqa: F401

games.install()
