"""Clouds of points of forty kinds of things."""

from pathlib import Path

import h5py
import numpy

chance = numpy.random.default_rng(0)
folder = Path("data/modelnet40_ply_hdf5_2048")
folder.mkdir(parents=True, exist_ok=True)
for part, count in (("train", 34), ("test", 10)):
    with h5py.File(folder / f"ply_data_{part}0.h5", "w") as file:
        file["data"] = chance.normal(size=(count, 2048, 3)).astype("float32")
        file["label"] = chance.integers(0, 40, (count, 1)).astype("uint8")
