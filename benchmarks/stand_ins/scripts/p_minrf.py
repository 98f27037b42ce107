"""Batches for a CPU, and a folder for pictures."""

from pathlib import Path

import made_up_data

Path("contents").mkdir(exist_ok=True)
made_up_data.smaller_batches(16)
