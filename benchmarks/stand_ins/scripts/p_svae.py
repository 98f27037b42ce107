"""Sentences of made-up words."""

from pathlib import Path

import made_up_data

Path("data").mkdir(exist_ok=True)
for _part, _count in (("train", 44), ("valid", 20), ("test", 20)):
    _lines = [" ".join(made_up_data.words(4 + number % 9, seed=number)) for number in range(_count)]
    Path(f"data/ptb.{_part}.txt").write_text("\n".join(_lines) + "\n", encoding="utf-8")
