"""Text of made-up words."""

from pathlib import Path

import made_up_data

Path("data").mkdir(exist_ok=True)
for _part, _count in (("train", 300), ("valid", 90), ("test", 90)):
    _lines = [" ".join(made_up_data.words(10, seed=number)) for number in range(_count // 10)]
    Path(f"data/ptb.{_part}.txt").write_text(" \n ".join(_lines) + " \n", encoding="utf-8")
