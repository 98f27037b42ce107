"""A game whose actions are numbers."""

from pathlib import Path

import games
import made_up_data  # noqa: F401
import modules

Path("runs").mkdir(exist_ok=True)
modules.put("gym", make=lambda *_, **__: games.Game())
modules.put("pybullet_envs")
