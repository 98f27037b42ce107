"""Sessions of several lengths in which things were looked at."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
for _split, _count in (("train", 40), ("test", 530)):
    _lines, _time = ["SessionId\tItemId\tTime"], 0
    for _session in range(_count):
        for _ in range(int(_chance.integers(2, 7))):
            _time += int(_chance.integers(1, 60))
            _item = int(_chance.integers(30)) if _time > 900 or _split == "test" else _time % 30
            _lines.append(f"{_session}\ti{_item}\t{_time}")
    if _split == "train":
        _lines += [f"{_count}\ti{_item}\t{_time + _item + 1}" for _item in range(30)]
    Path(f"made/{_split}.tsv").write_text("\n".join(_lines) + "\n")

_root = numpy.sqrt
numpy.sqrt = lambda given, *rest, **named: (
    float(_root(given)) if isinstance(given, float) else _root(given, *rest, **named)
)  # as NumPy 1
