"""Sentences of numbers in two languages; the options of the command line by their outsides."""

import pickle
import sys
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
for _language in ("en", "fr"):
    Path(f"data/processed/{_language}").mkdir(parents=True, exist_ok=True)
Path("output").mkdir(exist_ok=True)
for _part, _count in (("train", 60), ("val", 16)):
    for _language in ("en", "fr"):
        _said = [[int(word) for word in _chance.integers(4, 44, int(_chance.integers(5, 9)))] for _ in range(_count)]
        Path(f"data/processed/{_language}/{_part}.pkl").write_bytes(pickle.dumps(_said))
_names = []


def argument(name, type, default):
    def change(function):
        _names.insert(0, (name, type))
        return function

    return change


def command():
    def change(function):
        return lambda: function(
            **{name: kind(given) for (name, kind), given in zip(_names, sys.argv[1:], strict=False)}
        )

    return change


modules.put("click", argument=argument, command=command)
for _name in [name for name in sys.modules if name.partition(".")[0] == "tensorflow"]:
    del sys.modules[_name]  # ``einops`` would ask it for its tensors
