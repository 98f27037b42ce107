"""A folder for the model."""

from pathlib import Path

import made_up_data  # noqa: F401

Path("trained_models").mkdir(exist_ok=True)
