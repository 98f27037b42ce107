"""What was shown, clicked and bought."""

from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
_place = Path("data/AliExpress_NL")
_place.mkdir(parents=True, exist_ok=True)
Path("chkpt").mkdir(exist_ok=True)
Path("datasets/__init__.py").touch()  # there may be an installed package of this name
for _name, _count in (("train", 130), ("test", 60)):
    _rows = [
        [number, *_noise.integers(0, 9, 16), *_noise.random(6).round(3), *_noise.integers(0, 2, 2)]
        for number in range(_count)
    ]
    _head = [f"c{number}" for number in range(25)]
    _lines = [_head, [0, *[9] * 16, *[0.5] * 6, 0, 1], *_rows]
    (_place / f"{_name}.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in _lines))
