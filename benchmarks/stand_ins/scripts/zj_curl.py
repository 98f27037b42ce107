"""A game that is seen as pictures, and views of arrays."""

import games
import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)


class Wrapper:
    """As much of a wrapper of games as is used."""

    def __init__(self, env):
        self.env, self.action_space, self.observation_space = env, env.action_space, env.observation_space

    def __getattr__(self, name):
        if name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)


class Box:
    """A space of pictures."""

    def __init__(self, low=0, high=255, shape=(), dtype="uint8"):
        self.shape, self.dtype = shape, dtype


class Watched(games.Game):
    """A game whose states are pictures."""

    def __init__(self, side):
        super().__init__()
        self.observation_space = Box(shape=(3, side, side))

    def _seen(self):
        return _chance.integers(0, 255, self.observation_space.shape).astype("uint8")

    def reset(self):
        super().reset()
        return self._seen()

    def step(self, action):
        _, *rest = super().step(action)
        return self._seen(), *rest


_gym = modules.put("gym", Wrapper=Wrapper)
modules.put("gym.spaces", Box=Box)
modules.put("dmc2gym", make=lambda **named: Watched(named["height"]))
modules.put("skimage.util.shape", view_as_windows=numpy.lib.stride_tricks.sliding_window_view)
modules.put("termcolor", colored=lambda text, *_, **__: text)
