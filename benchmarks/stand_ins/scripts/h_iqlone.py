"""A game, what was played before, and settings that are no command line."""

from types import SimpleNamespace
from typing import Any

import games
import modules

games.install()
modules.put("gym", wrappers=SimpleNamespace(
    TransformObservation=lambda env, _: env, TransformReward=lambda env, _: env,
), Env=games.Game)  # fmt: skip


def _wrap() -> Any:
    def wrapped(function: Any) -> Any:
        kind = next(iter(function.__annotations__.values()))
        return lambda: function(kind(
            max_timesteps=60, buffer_size=100, batch_size=16, eval_freq=8, n_episodes=2, iql_deterministic=False,
        ))  # fmt: skip

    return wrapped


modules.put("d4rl", qlearning_dataset=games.played)
modules.put("pyrallis", wrap=_wrap)
