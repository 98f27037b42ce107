"""What users watched."""

from pathlib import Path

import made_up_tables

Path("data").mkdir(exist_ok=True)
lines = [f"{user} {item}\n" for user, item in made_up_tables.watched(40, 30, 10)]
Path("data/madeup.txt").write_text("".join(lines), encoding="utf-8")
