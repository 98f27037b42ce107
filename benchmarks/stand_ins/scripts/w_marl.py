"""A battle of two by its shape: everything is noise, and an episode ends after some steps."""

import modules
import numpy

_chance = numpy.random.default_rng(0)


class StarCraft2Env:
    def __init__(self, **_):
        self._steps = self._ends = 0

    def get_env_info(self):
        return {"n_actions": 4, "n_agents": 2, "state_shape": 6, "obs_shape": 5, "episode_limit": 6}

    def reset(self):
        self._steps, self._ends = 0, int(_chance.integers(3, 8))

    def get_obs(self):
        return [_chance.normal(size=5) for _ in range(2)]

    def get_state(self):
        return _chance.normal(size=6)

    def get_avail_agent_actions(self, _):
        return [1, 1, int(_chance.random() < 0.5), 1]

    def step(self, _):
        self._steps += 1
        return float(_chance.normal()), self._steps >= self._ends, {"battle_won": bool(self._steps % 2)}

    def close(self):
        pass


modules.put("smac.env", StarCraft2Env=StarCraft2Env)
