"""What users watched: some more than others."""

from pathlib import Path

import made_up_tables

Path("data").mkdir(exist_ok=True)
pairs = [(user, item, at) for at, (user, item) in enumerate(made_up_tables.watched(40, 30, 10))]
lines = [f"{user} {item}\n" for user, item, at in pairs if at % 10 < 4 + user % 7]
Path("data/madeup.txt").write_text("".join(lines), encoding="utf-8")
