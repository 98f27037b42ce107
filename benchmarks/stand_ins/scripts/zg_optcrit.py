"""A pole that is balanced, in a library of games without any of Atari."""

import sys
import types

import made_up_data  # noqa: F401
import modules
import poles


class Writer:
    def __init__(self, _):
        pass

    def add_scalar(self, tag, scalar_value, global_step):
        if hasattr(scalar_value, "detach"):
            scalar_value.detach().cpu()


def _change(_):
    sys.modules["torch.utils.tensorboard"].SummaryWriter = Writer


poles.put(9, 16)
modules.when_imported("torch", _change)
modules.put("gym", Env=object, envs=types.SimpleNamespace())
modules.put("gym.utils")
modules.put("gym.spaces")
modules.put("gym.core")
modules.put("gym.wrappers", FrameStack=object)
