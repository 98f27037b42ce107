"""Speeds at 207 places, and which of them are neighbours."""

from pathlib import Path

import numpy
import pandas
import scipy.sparse

_noise = numpy.random.default_rng(0)
Path("data/metr-la").mkdir(parents=True, exist_ok=True)
pandas.DataFrame(_noise.random((150, 207)) * 60).to_csv("data/metr-la/vel.csv", index=False)
_near = (_noise.random((207, 207)) > 0.9).astype(float)
scipy.sparse.save_npz("data/metr-la/adj.npz", scipy.sparse.csc_matrix(_near + _near.T))
