"""Smaller batches, and a folder for pictures."""

from pathlib import Path

import made_up_data

made_up_data.smaller_batches(16)
Path("data/diffusion_outputs10").mkdir(parents=True, exist_ok=True)
