"""A table of three columns of kinds and four of numbers, some of them missing, and three classes."""

import sys

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)


def _part(rows):
    kinds, numbers = _chance.integers(0, 4, (rows, 3)), _chance.normal(size=(rows, 4))
    mask = (_chance.random((rows, 7)) > 0.05).astype(int)
    return {"data": numpy.hstack([kinds, numbers]), "mask": mask}, {"data": (numpy.arange(rows) % 3).reshape(-1, 1)}


def _table(module):
    def prepare(*_, **__):
        parts = [_part(rows) for rows in (76, 20, 20)]
        return [4, 4, 4], [0, 1, 2], [3, 4, 5, 6], *parts[0], *parts[1], *parts[2], numpy.zeros(4), numpy.ones(4)

    module.data_prep_openml = prepare


modules.when_imported("data_openml", _table)
for _name in ("openml", "pandas", "sklearn.preprocessing", "sklearn.model_selection", "sklearn.metrics"):
    modules.put(_name)
for _name in [name for name in sys.modules if name.partition(".")[0] == "tensorflow"]:
    del sys.modules[_name]  # ``einops`` would ask it for its tensors
