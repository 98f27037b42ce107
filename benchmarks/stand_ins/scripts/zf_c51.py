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
        self._max_episode_steps = 500

    def reset(self, **_):
        self._last = int(_chance.integers(7, 13))
        super().reset()
        return _chance.normal(size=4), {}

    def step(self, _):
        self._steps += 1
        return _chance.normal(size=4), 1.0, self._steps >= self._last, False, {}

    def close(self):
        pass


modules.put("gymnasium", make=lambda *_, **__: Pole())
