"""A game by its shape."""

import games
import made_up_data  # noqa: F401
import modules

games.install()
modules.put("gym").make = lambda *_, **__: games.Game()
