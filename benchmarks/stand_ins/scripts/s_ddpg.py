"""A game by its shapes."""

import games
import modules


class _Wrapper:
    def __init__(self, env):
        self.env = env

    def __getattr__(self, name):
        return getattr(self.env, name)


modules.put("gym", make=lambda *_, **__: games.Game(), ActionWrapper=_Wrapper)
