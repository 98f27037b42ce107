"""A game by its shapes."""

import games
import made_up_data  # noqa: F401
import modules
import numpy


class _Game(games.Game):
    def __init__(self):
        super().__init__()
        self.observation_space.dtype = numpy.dtype("float32")

    def close(self):
        pass


def _change(module):
    module.create_single_env = lambda args, rank=0: _Game()


games.install()
for _name in ("gym.core", "gym.spaces"):
    modules.put(_name)
modules.when_imported("rl_utils.env_wrapper.create_env", _change)
