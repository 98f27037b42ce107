"""Reviews of several lengths by users of things, vectors of words."""

from pathlib import Path

import made_up_data
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
Path("made/words.txt").write_text(
    "".join(f"w{one} {' '.join(f'{value:.3f}' for value in _chance.normal(size=8))}\n" for one in range(40))
)
for _split, _count in (("train", 54), ("valid", 30), ("test", 30)):
    _lines = []
    for _number in range(_count):
        _said = " ".join(made_up_data.words(int(_chance.integers(3, 16)), seed=_number))
        _lines.append(f"{_number % 6},{_number % 5},{_said},{_chance.integers(1, 6)}.0")
    Path(f"made/{_split}.csv").write_text("\n".join(_lines) + "\n")
