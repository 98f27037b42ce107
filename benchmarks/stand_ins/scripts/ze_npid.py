"""Places for what is written."""

from pathlib import Path

import made_up_data  # noqa: F401

for _name in ("results", "epochs"):
    Path(_name).mkdir(exist_ok=True)
