"""A game, and what was played before."""

import games
import made_up_data  # noqa: F401
import modules

games.install()
modules.put("gym.envs.mujoco")
modules.put("gym.spaces")
modules.put("d4rl", qlearning_dataset=games.played)
