"""A folder for the model."""

from pathlib import Path

import made_up_data  # noqa: F401

Path("Checkpoints").mkdir(exist_ok=True)
