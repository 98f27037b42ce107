"""Batches of 8."""

from pathlib import Path

import made_up_data

Path("sample").mkdir(exist_ok=True)
Path("checkpoint").mkdir(exist_ok=True)
made_up_data.smaller_batches(8)
