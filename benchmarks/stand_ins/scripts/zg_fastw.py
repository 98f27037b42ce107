"""A folder for what is logged."""

from pathlib import Path

import made_up_data  # noqa: F401

Path("logs").mkdir(exist_ok=True)
