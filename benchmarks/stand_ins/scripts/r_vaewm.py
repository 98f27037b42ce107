"""Rides of a few pictures each."""

from pathlib import Path

import modules
import numpy

modules.put("gym")
modules.put("gym.envs.box2d")
_chance = numpy.random.default_rng(0)
Path("logs").mkdir(exist_ok=True)
_folder = Path("datasets/carracing/one")
_folder.mkdir(parents=True, exist_ok=True)
_ride = {
    "observations": _chance.integers(0, 255, (6, 64, 64, 3)).astype("uint8"), "actions": _chance.normal(size=(6, 3)),
    "rewards": numpy.ones(6), "terminals": numpy.zeros(6),
}  # fmt: skip
for _number in range(610):
    numpy.savez(_folder / f"{_number:03d}.npz", **_ride)
