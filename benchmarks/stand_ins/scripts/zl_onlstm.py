"""Text of three parts."""

from pathlib import Path

import made_up_data

Path("made").mkdir(exist_ok=True)
for _split, _count in (("train", 300), ("valid", 230), ("test", 40)):
    _words = made_up_data.words(_count, seed=_count)
    _lines = [" ".join(_words[start : start + 9]) for start in range(0, _count, 9)]
    Path(f"made/{_split}.txt").write_text("\n".join(_lines) + "\n")
