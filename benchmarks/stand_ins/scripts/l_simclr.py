"""A summary writer that has a folder."""

from pathlib import Path

import libraries

libraries.Writer.log_dir = "made_logs"
Path("made_logs").mkdir(exist_ok=True)
