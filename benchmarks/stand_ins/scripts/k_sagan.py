"""Folders that the script writes to."""

from pathlib import Path

for _name in ("models", "samples", "logs", "attn"):
    Path(_name).mkdir(exist_ok=True)
