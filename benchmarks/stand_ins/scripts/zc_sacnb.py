"""A game by its shape, and its wrapper."""

import games
import made_up_data  # noqa: F401
import modules


class ActionWrapper:
    def __init__(self, game):
        self.game = game

    def __getattr__(self, name):
        return getattr(self.game, name)


modules.put("gym", make=lambda *_, **__: games.Game(), ActionWrapper=ActionWrapper)
modules.put("IPython.display")
