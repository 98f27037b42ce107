"""A game of two numbers by its shape, and arrays as older versions of NumPy made them."""

from pathlib import Path

import games
import modules
import numpy


class Game(games.Game):
    _max_episode_steps = 15

    def __init__(self):
        super().__init__()
        self.observation_space, self.action_space = games.Box(2), games.Box(1)

    def reset(self):
        super().reset()
        return games._NOISE.normal(size=2) * 0.3

    def step(self, action):
        _, reward, done, info = super().step(action)
        return games._NOISE.normal(size=2) * 0.3, reward, done, info


_array = numpy.array


def array(given, *rest, copy=True, **named):
    return _array(given, *rest, copy=copy or None, **named)


numpy.array = array
for _level in range(1, 3):
    Path(f"preTrained/MountainCarContinuous-h-v1/{_level}level").mkdir(parents=True, exist_ok=True)
modules.put("gym", make=lambda *_, **__: Game())
modules.put("gym.envs.registration", register=lambda **_: None)
modules.put("gym.utils")
modules.put("asset")
