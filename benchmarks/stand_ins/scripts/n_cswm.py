"""What somebody did with shapes, and what was seen before and after."""

import h5py
import made_up_data  # noqa: F401
import numpy

chance = numpy.random.default_rng(0)
with h5py.File("shapes.h5", "w") as file:
    for number in range(6):
        group = file.create_group(str(number))
        seen = chance.random((12, 3, 50, 50)).astype("float32")
        group["obs"], group["next_obs"] = seen[:-1], seen[1:]
        group["action"] = chance.integers(0, 20, 11)
