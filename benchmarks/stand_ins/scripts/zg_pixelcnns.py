"""What to learn and where to keep it."""

from pathlib import Path

import made_up_data  # noqa: F401

Path("Data").mkdir(exist_ok=True)
Path("made.txt").write_text("[data]\npath = Data\nbatch_size = 3\n\n[network]\nepochs = 6\n")
