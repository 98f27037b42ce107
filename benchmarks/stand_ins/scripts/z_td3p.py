"""A game by its shape."""

from pathlib import Path

import games
import made_up_data  # noqa: F401
import modules

Path("tmp/td3").mkdir(parents=True, exist_ok=True)


def _make(*_, **__):
    game = games.Game()
    game.reward_range = (-float("inf"), float("inf"))
    return game


modules.put("gym", make=_make)
