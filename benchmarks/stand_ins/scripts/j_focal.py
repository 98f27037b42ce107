"""A folder for what is saved."""

from pathlib import Path

Path("made").mkdir(exist_ok=True)
