"""Ratings of 60 people, and an answer to what the script asks at its end."""

import builtins
from pathlib import Path

import made_up_data  # noqa: F401 - libraries that are not installed
import made_up_tables

_folder = Path("Data/ml-1m")
_folder.mkdir(parents=True)
for _name in ("README", "movies.dat", "users.dat"):
    (_folder / _name).write_text("")
_rows = (f"{user}::{item}::5::{at}" for at, (user, item) in enumerate(made_up_tables.watched(60, 130, 12)))
(_folder / "ratings.dat").write_text("\n".join(_rows) + "\n")
builtins.input = lambda *_: "y"
