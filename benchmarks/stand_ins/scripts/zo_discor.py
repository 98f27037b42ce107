"""A game by its shape, and small sizes in a configuration."""

from pathlib import Path

import games
import made_up_data  # noqa: F401
import modules
import yaml


class _Game(games.Game):
    def close(self):
        pass


modules.put("gym", make=lambda *_, **__: _Game())
modules.put("gym.spaces", Box=games.Box)
modules.put("gym.envs.registration")
modules.put("metaworld.envs.mujoco.env_dict")
_said = yaml.safe_load(Path("config/mujoco.yaml").read_text())
_said["Agent"] |= {"num_steps": 40, "batch_size": 12, "memory_size": 200, "start_steps": 20, "log_interval": 2}
_said["Agent"] |= {"eval_interval": 8, "num_eval_episodes": 1}
_said["SAC"] |= {"policy_hidden_units": [12, 12], "q_hidden_units": [12, 12], "log_interval": 4}
_said.setdefault("DisCor", {})["error_hidden_units"] = [12, 12]
Path("made.yaml").write_text(yaml.safe_dump(_said))
