"""A game of four small pictures by its shape."""

import types
from pathlib import Path

import games
import modules


class Game(games.Game):
    def __init__(self):
        super().__init__()
        self.observation_space = types.SimpleNamespace(shape=(4, 84, 84))
        self.action_space = types.SimpleNamespace(n=6)

    def reset(self):
        super().reset()
        return games._NOISE.random((4, 84, 84)).astype("float32")

    def step(self, action):
        _, reward, done, info = super().step(action)
        return games._NOISE.random((4, 84, 84)).astype("float32"), reward, done, info


def _change(module):
    module.make_env = lambda *_, **__: Game()


for _name in ("models", "plots"):
    Path(_name).mkdir(exist_ok=True)
modules.put("gym", Wrapper=object, RewardWrapper=object, ObservationWrapper=object, wrappers=modules.Anything())
modules.when_imported("utils", _change)
