"""Events of several kinds, each at its time."""

import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)


def _told(length):
    gaps = _chance.exponential(1, length)
    return [
        {"time_since_start": float(now), "time_since_last_event": float(gap), "type_event": int(_chance.integers(4))}
        for now, gap in zip(gaps.cumsum(), gaps, strict=True)
    ]


for _part, _count in (("train", 26), ("dev", 6), ("test", 10)):
    _kept = {"dim_process": 4, _part: [_told(5 + 2 * (number % 4)) for number in range(_count)]}
    Path(f"made/{_part}.pkl").write_bytes(pickle.dumps(_kept))
