"""Bodies that move, seen by four cameras, and a kind that einops asks for."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
_space, _flat = {}, {}
for _who in ("S1", "S5", "S6", "S7", "S8", "S9", "S11"):
    _space[_who], _flat[_who] = {}, {}
    for _what, _frames in (("Walking 1", 3), ("Eating 1", 4)):
        _space[_who][_what] = _chance.normal(size=(_frames, 32, 3)).cumsum(0).astype("float32") / 10
        _flat[_who][_what] = [_chance.uniform(0, 1000, (_frames, 17, 2)).astype("float32") for _ in range(4)]
numpy.savez("made/data_3d_h36m.npz", positions_3d=_space)
numpy.savez(
    "made/data_2d_h36m_cpn_ft_h36m_dbb.npz", positions_2d=_flat,
    metadata={"num_joints": 17, "keypoints_symmetry": [[4, 5, 6, 11, 12, 13], [1, 2, 3, 14, 15, 16]]},
)  # fmt: skip
modules.put("tensorflow", Tensor=modules.Anything, Variable=modules.Anything)
