"""What was played before."""

import modules
import numpy

_noise = numpy.random.default_rng(0)


def _played(*_):
    states = _noise.integers(0, 255, (400, 4, 84, 84)).astype("uint8")
    ends = numpy.arange(20, 401, 20)
    return (
        list(states), _noise.integers(0, 4, 400), _noise.normal(size=20), ends,
        _noise.normal(size=400).astype("float32"), numpy.tile(numpy.arange(20), 20),
    )  # fmt: skip


modules.put("create_dataset", create_dataset=_played)
for _name in ("blosc", "atari_py"):
    modules.put(_name)
