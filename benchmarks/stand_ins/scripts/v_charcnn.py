"""News of four kinds, as lines of a table: kind, title and text of several lengths."""

from pathlib import Path

import made_up_data
import numpy

_chance = numpy.random.default_rng(0)
Path("input/ag_news_csv").mkdir(parents=True, exist_ok=True)
for _split, _count in (("train", 86), ("test", 38)):
    _lines = []
    for _number in range(_count):
        _text = " ".join(made_up_data.words(int(_chance.integers(8, 60)), seed=_number + _count))
        _lines.append(f'"{_number % 4 + 1}","title {_number % 4} of it","{_text}"')
    Path(f"input/ag_news_csv/{_split}.csv").write_text("\n".join(_lines) + "\n")
