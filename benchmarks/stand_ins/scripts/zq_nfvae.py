"""A folder for what is kept."""

from pathlib import Path

import made_up_data  # noqa: F401

Path("experiments").mkdir(exist_ok=True)
