"""A game by its shape, and what was played of it before."""

import games
import made_up_data  # noqa: F401
import modules

games.install()
modules.put("d4rl", qlearning_dataset=games.played)
