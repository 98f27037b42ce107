"""A folder for what is saved, and a table that is printed."""

from pathlib import Path

import made_up_data  # noqa: F401

Path("made").mkdir(exist_ok=True)
