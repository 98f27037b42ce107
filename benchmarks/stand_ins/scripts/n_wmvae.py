"""What was seen while somebody drove a car: 600 short drives to test by, six longer ones to learn from."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

modules.put("gym.envs.box2d")
chance = numpy.random.default_rng(0)
Path("out/vae/samples").mkdir(parents=True, exist_ok=True)
folder = Path("datasets/carracing/thread_0")
folder.mkdir(parents=True, exist_ok=True)
for number in range(606):
    length = 4
    seen = numpy.zeros((length, 96, 96, 3), "uint8") + chance.integers(0, 255, (length, 1, 1, 3)).astype("uint8")
    flags = numpy.zeros(length)
    numpy.savez_compressed(
        folder / f"rollout_{number}.npz",
        observations=seen,
        rewards=flags,
        actions=numpy.zeros((length, 3)),
        terminals=flags,
    )
