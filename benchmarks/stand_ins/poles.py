"""A game of two actions, as one that balances a pole."""

import games
import modules
import numpy

_chance = numpy.random.default_rng(0)


class Pole(games.Game):
    def __init__(self, shortest, longest):
        super().__init__()
        self._lengths = (shortest, longest)
        self.observation_space = games.Box(4)
        self.action_space = type("Two", (), {"n": 2, "sample": lambda _: int(_chance.integers(2))})()

    def reset(self):
        self._max_episode_steps = int(_chance.integers(*self._lengths))
        super().reset()
        return _chance.normal(size=4)

    def step(self, action):
        _, reward, ended, more = super().step(action)
        return _chance.normal(size=4), reward, ended, more

    def close(self):
        pass


def put(shortest, longest):
    """Make it what gym makes; its episodes have from ``shortest`` to ``longest`` steps, that one excluded."""
    modules.put("gym", make=lambda *_, **__: Pole(shortest, longest))
