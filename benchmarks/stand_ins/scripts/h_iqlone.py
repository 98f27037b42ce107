"""A game, what was played before, and settings that are no command line."""

from types import SimpleNamespace
from typing import Any

import games
import modules
import numpy

games.install()
modules.put("gym", wrappers=SimpleNamespace(
    TransformObservation=lambda env, _: env, TransformReward=lambda env, _: env,
), Env=games.Game)  # fmt: skip


def _data(_: Any) -> Any:
    chance = numpy.random.default_rng(0)
    draw = lambda *shape: chance.normal(size=shape).astype("float32")  # noqa: E731
    return {
        "observations": draw(60, 5), "actions": draw(60, 2).clip(-0.9, 0.9), "next_observations": draw(60, 5),
        "rewards": draw(60), "terminals": chance.random(60) < 0.1,
    }  # fmt: skip


def _wrap() -> Any:
    def wrapped(function: Any) -> Any:
        kind = next(iter(function.__annotations__.values()))
        return lambda: function(kind(
            max_timesteps=60, buffer_size=100, batch_size=16, eval_freq=8, n_episodes=2, iql_deterministic=False,
        ))  # fmt: skip

    return wrapped


modules.put("d4rl", qlearning_dataset=_data)
modules.put("pyrallis", wrap=_wrap)
