"""Drawings of cells that nobody looks at, and a folder for what is saved."""

from pathlib import Path

import modules

modules.put("graphviz")
Path("augments/made").mkdir(parents=True, exist_ok=True)
