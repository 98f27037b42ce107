"""A game by its shape, with two actions, and its wrappers."""

import types

import games
import made_up_data  # noqa: F401
import modules


class Game(games.Game):
    spec = types.SimpleNamespace(reward_threshold=475)

    def __init__(self):
        super().__init__()
        self.action_space = types.SimpleNamespace(n=2)


_wrappers = types.SimpleNamespace(Monitor=lambda game, **_: game)
modules.put("gym", make=lambda *_, **__: Game(), wrappers=_wrappers)
modules.put("matplotlib", get_backend=lambda: "agg")
