"""A folder for what is kept."""

from pathlib import Path

import made_up_data  # noqa: F401

Path("model").mkdir(exist_ok=True)
