"""Faces."""

import pickle
from pathlib import Path

import modules
import numpy

for _folder in ("datasets/Freyfaces", "data/Freyfaces"):
    Path(_folder).mkdir(parents=True, exist_ok=True)
    with open(f"{_folder}/freyfaces.pkl", "wb") as _file:
        pickle.dump([numpy.random.default_rng(0).integers(0, 256, (1965, 560)).astype("float64")], _file)


def _change(module: object) -> None:
    from scipy.special import logsumexp

    module.logsumexp = logsumexp  # type: ignore[attr-defined]


modules.when_imported("scipy.misc", _change)
modules.put("matplotlib.gridspec")
