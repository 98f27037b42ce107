"""The name of a process is not set."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules

Path("logs").mkdir(exist_ok=True)
modules.put("setproctitle")
