"""A folder for what is linked."""

from pathlib import Path

import made_up_data  # noqa: F401

for _name in ("trainA", "trainB", "testA", "testB"):
    Path(f"made/{_name}").mkdir(parents=True, exist_ok=True)
