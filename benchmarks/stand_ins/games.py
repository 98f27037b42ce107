"""A game by its shape: states and rewards are noise, and an episode ends after some steps."""

from typing import Any

import modules
import numpy

_NOISE = numpy.random.default_rng(0)


class Box:
    """A space of numbers."""

    def __init__(self, size: int) -> None:
        self.shape = (size,)
        self.high, self.low = numpy.ones(size), -numpy.ones(size)

    def seed(self, _: int) -> None:
        """Nothing: it is noise."""

    def sample(self) -> Any:
        """A point of it."""
        return _NOISE.uniform(-1, 1, self.shape)


class Game:
    """As gym had it before version 0.26: ``step`` gives four things."""

    _max_episode_steps = 12

    def __init__(self) -> None:
        self.observation_space, self.action_space = Box(5), Box(2)
        self._steps = 0

    def seed(self, _: int) -> None:
        """Nothing: it is noise."""

    def reset(self) -> Any:
        """A first state."""
        self._steps = 0
        return _NOISE.normal(size=5)

    def step(self, _: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        """State, reward, whether it ended."""
        self._steps += 1
        return _NOISE.normal(size=5), float(_NOISE.normal()), self._steps >= self._max_episode_steps, {}

    def get_normalized_score(self, score: float) -> float:
        """As d4rl has it."""
        return score


def played(_: Any) -> dict[str, Any]:
    """What was played before, as d4rl gives it."""
    chance = numpy.random.default_rng(0)
    draw = lambda *shape: chance.normal(size=shape).astype("float32")  # noqa: E731
    return {
        "observations": draw(60, 5), "actions": draw(60, 2).clip(-0.9, 0.9), "next_observations": draw(60, 5),
        "rewards": draw(60), "terminals": chance.random(60) < 0.1,
    }  # fmt: skip


def install() -> None:
    """Put a made-up gym in place."""
    modules.put("gym", make=lambda *_, **__: Game())
