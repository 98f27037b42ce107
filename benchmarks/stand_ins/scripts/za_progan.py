"""Folders for what is kept."""

from pathlib import Path

import made_up_data  # noqa: F401

Path("made").mkdir(exist_ok=True)
