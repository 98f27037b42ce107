"""A game of pictures with five moves, and a small configuration."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made.yaml").write_text("""
num_steps: 100
batch_size: 6
lr: 0.0003
memory_size: 200
gamma: 0.99
multi_step: 1
target_entropy_ratio: 0.98
start_steps: 20
update_interval: 4
target_update_interval: 40
use_per: True
dueling_net: False
num_eval_steps: 12
max_episode_steps: 20
log_interval: 4
eval_interval: 40
""")


class _Space:
    shape = (4, 84, 84)
    n = 5

    def sample(self):
        return int(_chance.integers(0, 5))


class _Game:
    observation_space = action_space = _Space()

    def __init__(self):
        self._steps = 0

    def seed(self, _):
        pass

    def _picture(self):
        return _chance.integers(0, 255, (4, 84, 84)).astype("uint8")

    def reset(self):
        self._steps = 0
        return self._picture()

    def step(self, _):
        self._steps += 1
        return self._picture(), float(_chance.normal()), self._steps >= 11, {}

    def close(self):
        pass


def _change(module):
    module.make_pytorch_env = lambda *_, **__: _Game()


class _Base:
    pass


modules.put(
    "gym", Wrapper=_Base, ObservationWrapper=_Base, RewardWrapper=_Base, ActionWrapper=_Base,
)  # fmt: skip
modules.put("gym.spaces")
modules.put("gym.wrappers")
modules.when_imported("sacd.env", _change)


def _change_model(module):
    """Eighths of the channels, since pictures have to be as large as they are."""
    whole = module.nn

    less = lambda size: size // 8 if size >= 32 else size  # noqa: E731

    class Conv2d(whole.Conv2d):
        def __init__(self, one, other, *given, **named):
            super().__init__(less(one), less(other), *given, **named)

    class Linear(whole.Linear):
        def __init__(self, one, other, *given, **named):
            super().__init__(less(one), less(other), *given, **named)

    class Narrow:
        def __getattr__(self, name):
            return {"Conv2d": Conv2d, "Linear": Linear}.get(name) or getattr(whole, name)

    module.nn = Narrow()


modules.when_imported("sacd.model", _change_model)
