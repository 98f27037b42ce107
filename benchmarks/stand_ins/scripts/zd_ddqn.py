"""A game of two actions."""

import games
import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)


class Pole(games.Game):
    def __init__(self):
        super().__init__()
        self.observation_space = games.Box(4)
        self.action_space = type("Two", (), {"n": 2, "sample": lambda _: int(_chance.integers(2))})()

    def reset(self):
        self._max_episode_steps = int(_chance.integers(9, 30))
        super().reset()
        return _chance.normal(size=4)

    def step(self, action):
        _, reward, ended, more = super().step(action)
        return _chance.normal(size=4), reward, ended, more

    def close(self):
        pass


modules.put("gym", make=lambda *_, **__: Pole())
