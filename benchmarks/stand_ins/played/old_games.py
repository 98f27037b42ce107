"""The games of gymnasium as gym had them before version 0.26: ``reset`` gives a state, ``step`` gives four things."""

from typing import Any

import modules


class Game:
    """A game that ends after some steps at the latest."""

    def __init__(self, name: str, steps: int) -> None:
        import gymnasium

        self._game = gymnasium.make(name, max_episode_steps=steps)
        self._max_episode_steps = steps
        self._seed: int | None = 0
        self.observation_space, self.action_space = self._game.observation_space, self._game.action_space
        self.env = self.unwrapped = self
        self.spec = self._game.spec

    def seed(self, seed: int | None = None) -> None:
        """For the next start."""
        self._seed = seed

    def reset(self) -> Any:
        """A first state."""
        state, _ = self._game.reset(seed=self._seed)
        self._seed = None
        return state

    def step(self, action: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        """State, reward, whether it ended."""
        state, reward, ended, stopped, told = self._game.step(action)
        return state, reward, ended or stopped, told

    def render(self, *_: Any, **__: Any) -> None:
        """Nothing is shown."""

    close = render


class ActionWrapper:
    """A game whose actions are changed first."""

    def __init__(self, env: Any) -> None:
        self.env = env

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)

    def step(self, action: Any) -> Any:
        """As the game does it."""
        return self.env.step(self._action(action))  # type: ignore[attr-defined]


def install(name: str, steps: int) -> None:
    """Put a made-up gym in place, whose every game is this one."""
    modules.put("gym", make=lambda *_, **__: Game(name, steps), ActionWrapper=ActionWrapper, Wrapper=ActionWrapper)
