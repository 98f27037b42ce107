"""A game by its shape, and smaller sizes in the configuration."""

import configparser

import games
import made_up_data  # noqa: F401
import modules

games.install()
_said = configparser.ConfigParser()
_said.read("config.ini")
_given = {"hidden_dim": "16", "memory_size": "500", "batch_size": "8", "learn_start_size": "10"}
for _key, _value in _given.items():
    if _said.has_option("sac", _key):
        _said.set("sac", _key, _value)
with open("config.ini", "w") as _file:
    _said.write(_file)


def _change(module):
    before = module.make_transition

    def make(state, action, reward, after, done, *rest):
        return before(state, action, reward, after, bool(done[0]), *rest)  # as an older NumPy would take it

    module.make_transition = make


modules.when_imported("utils.utils", _change)
