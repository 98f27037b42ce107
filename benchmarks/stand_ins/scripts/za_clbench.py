"""A folder for what is kept of the data."""

from pathlib import Path

import made_up_data  # noqa: F401

for _name in ("data", "outputs"):
    Path(_name).mkdir(exist_ok=True)
