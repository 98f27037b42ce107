"""Folders for what is kept."""

from pathlib import Path

import made_up_data  # noqa: F401

for _name in ("Output", "Data"):
    Path(_name).mkdir(exist_ok=True)
