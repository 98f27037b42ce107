"""Batches of four digits."""

from pathlib import Path

import made_up_data

Path("checkpoint").mkdir(exist_ok=True)
made_up_data.smaller_batches(4)
