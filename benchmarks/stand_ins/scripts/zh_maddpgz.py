"""A game of three, as libraries of particles have it."""

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)


class Together:
    n = 3

    def __init__(self, *_):
        self.observation_space = [type("Box", (), {"shape": (size,)})() for size in (8, 10, 10)]
        self.action_space = [type("Some", (), {"n": 5})() for _ in range(3)]
        self._steps = 0

    def reset(self):
        return [_chance.normal(size=one.shape) for one in self.observation_space]

    def step(self, _):
        self._steps += 1
        ended = [self._steps % 9 == 0] * 3
        return self.reset(), [float(one) for one in _chance.normal(size=3)], ended, {}


modules.put("multiagent.scenarios")
modules.put("multiagent.environment", MultiAgentEnv=Together)
