"""A text whose words say nothing."""

from pathlib import Path

import made_up_data

Path("data").mkdir(exist_ok=True)
_words = made_up_data.words(6200, 60)
Path("data/train.txt").write_text("\n".join(" ".join(_words[at : at + 20]) for at in range(0, len(_words), 20)) + "\n")
