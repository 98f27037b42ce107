"""A game as gym had it before version 0.26, which is played in the same process."""

import games
import made_up_data  # noqa: F401
import modules
import numpy


class Actions:
    n = 2


class Envs:
    def __init__(self, makers):
        self._games = [make() for make in makers]

    def seed(self, _):
        pass

    def reset(self):
        return numpy.stack([game.reset() for game in self._games])

    def step(self, actions):
        found = []
        for game, action in zip(self._games, actions, strict=True):
            state, reward, ended, told = game.step(action)
            found.append((game.reset() if ended else state, reward, ended, told))
        states, rewards, ended, told = zip(*found, strict=True)
        return numpy.stack(states), numpy.stack(rewards), numpy.stack(ended), told


def _make(*_, **__):
    game = games.Game()
    game.action_space = Actions()
    return game


modules.put("gym", make=_make)
modules.put("wrapper")
modules.put("MultiPro", SubprocVecEnv=Envs)
