"""A text of few words."""

from pathlib import Path

import made_up_data

Path("made").mkdir(exist_ok=True)
for _name, _count in (("train", 70), ("valid", 20), ("test", 20)):
    _lines = [" ".join(made_up_data.words(6, seed=number)) for number in range(_count)]
    Path(f"made/{_name}.txt").write_text("\n".join(_lines) + "\n")
