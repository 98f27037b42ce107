"""Small pictures with the places they were taken from."""

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
_poses = numpy.zeros((160, 4, 4))
for _number in range(160):
    _poses[_number, :3, :3] = numpy.linalg.qr(_chance.normal(size=(3, 3)))[0]
numpy.savez(
    "66bdbc812bd0a196e194052f3f12cb2e.npz", images=_chance.integers(0, 255, (160, 14, 14, 3)), focal=16.0,
    camera_distance=2.0, poses=_poses,
)  # fmt: skip
