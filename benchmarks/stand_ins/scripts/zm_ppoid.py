"""A game of two actions, several of it at a time."""

from types import SimpleNamespace

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)


class _Discrete:
    n, shape = 2, ()

    def seed(self, _):
        pass


class _Several:
    single_action_space = _Discrete()
    single_observation_space = SimpleNamespace(shape=(4,), seed=lambda _: None)

    def __init__(self, makers):
        self._count, self._steps = len(makers), 0

    def reset(self):
        return _chance.normal(size=(self._count, 4))

    def step(self, actions):
        self._steps += 1
        ended = numpy.zeros(self._count, dtype=bool)
        ended[self._steps % self._count] = self._steps % 5 == 0
        told = [{"episode": {"r": 5.0, "l": 5}} if one else {} for one in ended]
        return _chance.normal(size=(self._count, 4)), numpy.asarray(actions, dtype=float), ended, told

    def close(self):
        pass


modules.put("gym")
modules.put("gym.spaces", Discrete=_Discrete)
modules.put("gym.vector", SyncVectorEnv=_Several)
