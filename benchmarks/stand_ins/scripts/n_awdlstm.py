"""A text of made-up words."""

from pathlib import Path

import made_up_data

Path("text").mkdir(exist_ok=True)
for number, (part, count) in enumerate((("train", 3000), ("valid", 300), ("test", 120))):
    words = made_up_data.words(count, seed=number)
    lines = [" ".join(words[start : start + 20]) for start in range(0, count, 20)]
    Path(f"text/{part}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
