"""Pictures of things, weights of before, and how they are told apart without a library."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)


def _change_files(module):
    module.loadmat = lambda _: {"fea": _chance.random((36, 1024)), "gnd": numpy.arange(36)[:, None] % 4 + 1}


def _change_torch(module):
    module.load = lambda *_, **__: {}
    module.nn.Module.load_state_dict = lambda *_, **__: None


def _told(*_):
    return _chance.integers(0, 4, 36)


modules.put("post_clustering", spectral_clustering=_told, acc=lambda *_: 0.5, nmi=lambda *_: 0.5)
modules.when_imported("scipy.io", _change_files)
modules.when_imported("torch", _change_torch)
Path("results").mkdir(exist_ok=True)
