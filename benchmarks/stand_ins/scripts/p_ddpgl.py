"""A game of few steps."""

import sys
from pathlib import Path

import made_up_data

sys.path.insert(0, str(Path(made_up_data.__file__).parent / "played"))
import old_games

old_games.install("Pendulum-v1", 20)
