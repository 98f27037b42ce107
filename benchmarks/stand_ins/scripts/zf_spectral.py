"""A picture of fields in many colours."""

import sys

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)


def _load(path):
    if "colormap" in path:
        return {"a": 0, "b": 0, "c": 0, "map": _chance.random((17, 3))}
    kinds = _chance.integers(1, 5, (12, 14))
    part = _chance.integers(0, 4, (12, 14))
    return {"TR": kinds * (part == 0), "TE": kinds * (part == 1), "input": _chance.random((12, 14, 16))}


def _counted(told, guessed):
    matrix = numpy.zeros((4, 4))
    numpy.add.at(matrix, (told.astype(int), guessed.astype(int)), 1)
    return matrix


def _change(module):
    module.loadmat = _load


modules.put("sklearn.metrics", confusion_matrix=_counted)
modules.when_imported("scipy.io", _change)
sys.modules.pop("tensorflow", None)  # another library would ask it
