"""Speeds of eight sensors, and which of them are close to each other."""

import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import numpy

chance = numpy.random.default_rng(0)
Path("data/METR-LA").mkdir(parents=True, exist_ok=True)
Path("data/sensor_graph").mkdir(parents=True, exist_ok=True)
Path("garage").mkdir(exist_ok=True)
for part, count in (("train", 40), ("val", 12), ("test", 12)):
    x = 30 + 30 * chance.random((count, 12, 8, 2))
    numpy.savez(f"data/METR-LA/{part}.npz", x=x, y=30 + 30 * chance.random((count, 12, 8, 2)))
close = (chance.random((8, 8)) > 0.5).astype("float32") + numpy.eye(8, dtype="float32")
names = [str(number) for number in range(8)]
with open("data/sensor_graph/adj_mx.pkl", "wb") as file:
    pickle.dump((names, {name: number for number, name in enumerate(names)}, close), file)
