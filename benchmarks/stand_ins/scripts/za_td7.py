"""A game by its shape, and a folder for what is kept."""

from pathlib import Path

import games
import made_up_data  # noqa: F401

Path("results").mkdir(exist_ok=True)
games.install()
