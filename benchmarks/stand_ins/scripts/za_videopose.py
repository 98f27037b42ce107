"""Bodies that move, seen by four cameras."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
Path("data").mkdir(exist_ok=True)
Path("checkpoint").mkdir(exist_ok=True)
_space, _flat = {}, {}
for _who in ("S1", "S5", "S9"):
    _space[_who], _flat[_who] = {}, {}
    for _what, _frames in (("Walking 1", 30), ("Eating 1", 23)):
        _space[_who][_what] = _chance.normal(size=(_frames, 32, 3)).cumsum(0).astype("float32") / 10
        _flat[_who][_what] = [_chance.uniform(0, 1000, (_frames, 17, 2)).astype("float32") for _ in range(4)]
numpy.savez("data/data_3d_h36m.npz", positions_3d=_space)
numpy.savez(
    "data/data_2d_h36m_made.npz", positions_2d=_flat,
    metadata={"num_joints": 17, "keypoints_symmetry": [[4, 5, 6, 11, 12, 13], [1, 2, 3, 14, 15, 16]]},
)  # fmt: skip
