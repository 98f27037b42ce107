"""Facts about things."""

from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
for _name, _count in (("train", 44), ("valid", 10), ("test", 10)):
    _facts = (f"e{_noise.integers(12)}\tr{_noise.integers(3)}\te{_noise.integers(12)}\n" for _ in range(_count))
    Path(f"made/{_name}.txt").write_text("".join(_facts))
