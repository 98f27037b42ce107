"""A game by its shapes, and options of files for a command line that is not here."""

import importlib
import sys

import games
import modules
import yaml


class _Options(dict):
    __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__


def _options(value):
    return _Options({key: _options(one) for key, one in value.items()}) if isinstance(value, dict) else value


def _fill(value, root):
    for key, one in value.items():
        if isinstance(one, dict):
            _fill(one, root)
        elif isinstance(one, str) and one.startswith("${") and one.endswith("}"):
            found = root
            for part in one[2:-1].split("."):
                found = found[part]
            if found != "???":
                value[key] = found


def _instantiate(config):
    _fill(config, _ROOT)
    module, _, name = config["class"].rpartition(".")
    parameters = dict(config["params"])
    return getattr(importlib.import_module(module), name)(**parameters)


_ROOT = {}


def _main(**_):
    def decorate(function):
        def run():
            with open("config/train.yaml") as file:
                root = yaml.safe_load(file)
            with open("config/agent/sac.yaml") as file:
                root.update(yaml.safe_load(file))
            root = _options(root)
            root.update(
                num_train_steps=40, replay_buffer_capacity=100, num_seed_steps=14, eval_frequency=24,
                num_eval_episodes=2, log_frequency=10, save_video=False,
            )
            for one in ("double_q_critic", "diag_gaussian_actor"):
                root[one].params.hidden_dim = 16
            root.agent.params.batch_size = 16
            root.agent.params.update(alpha_lr=1e-4, actor_lr=1e-4, critic_lr=1e-4)
            if "torch_xla" in sys.modules:  # as whoever ports it would write into the file
                root.device = "xla"
            _ROOT.update(root)
            _fill(root, root)
            function(root)

        return run

    return decorate


modules.put("hydra", main=_main)
modules.put("hydra.utils", instantiate=_instantiate)
modules.put("dmc2gym", make=lambda **_: games.Game())
modules.put("gym")
modules.put("imageio")
modules.put("termcolor", colored=lambda text, *_: text)
