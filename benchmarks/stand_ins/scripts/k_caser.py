"""What 40 people watched."""

from pathlib import Path

import made_up_tables

_folder = Path("datasets/ml1m/test")
_folder.mkdir(parents=True, exist_ok=True)
for _name, _each in (("train", 40), ("test", 6)):
    _rows = (f"{user} {item} 5" for user, item in made_up_tables.watched(40, 50, _each))
    (_folder / f"{_name}.txt").write_text("\n".join(_rows) + "\n")
