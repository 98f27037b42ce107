"""A game of two actions whose steps give five things."""

import made_up_data  # noqa: F401
import modules
import numpy
import poles


class Now(poles.Pole):
    def reset(self, seed=None):
        return super().reset().astype("float32"), {}

    def step(self, action):
        state, reward, ended, more = super().step(action)
        return numpy.float32(state), reward, ended, False, more


modules.put("gymnasium", make=lambda *_, **__: Now(6, 10))
