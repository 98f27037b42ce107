"""A game by its shape, with two actions."""

import games
import made_up_data  # noqa: F401
import modules


class Actions:
    n = 2

    def seed(self, _):
        pass

    def sample(self):
        return int(games._NOISE.integers(2))


class Game(games.Game):
    def __init__(self):
        super().__init__()
        self.action_space = Actions()


modules.put("gym", make=lambda *_, **__: Game())
modules.put("pybullet_envs")
