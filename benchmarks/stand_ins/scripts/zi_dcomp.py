"""Folders, smaller batches, and a library that counts devices."""

from pathlib import Path

import made_up_data
import modules

Path("checkpoints").mkdir(exist_ok=True)
made_up_data.smaller_batches(8)
modules.put("GPUtil")
