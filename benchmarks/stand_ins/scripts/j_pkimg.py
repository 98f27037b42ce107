"""A folder for what is saved, and a table that is printed."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules

Path("made").mkdir(exist_ok=True)
modules.put("colorama", Fore=type("Fore", (), {"RED": "", "RESET": "", "GREEN": "", "BLUE": "", "YELLOW": ""}))
