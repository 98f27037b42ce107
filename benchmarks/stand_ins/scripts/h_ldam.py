"""Folders for logs."""

from pathlib import Path

for _name in ("log", "checkpoint"):
    Path(_name).mkdir(exist_ok=True)
