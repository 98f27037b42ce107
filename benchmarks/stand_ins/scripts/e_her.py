"""A game with goals, and one process of many."""

from types import SimpleNamespace
from typing import Any

import modules
import numpy
from games import Box

_noise = numpy.random.default_rng(0)


class Game:
    """Noise that wants to be somewhere."""

    _max_episode_steps = 6
    action_space = Box(2)

    def seed(self, _: int) -> None:
        """Nothing: it is noise."""

    def reset(self) -> Any:
        """A first state."""
        return {
            "observation": _noise.normal(size=5),
            "achieved_goal": _noise.normal(size=3),
            "desired_goal": _noise.normal(size=3),
        }

    def step(self, _: Any) -> Any:
        """State, reward, whether it ended."""
        return self.reset(), 0.0, False, {"is_success": 1.0}

    def compute_reward(self, reached: Any, wanted: Any, _: Any) -> Any:
        """Whether it is near."""
        return -(numpy.linalg.norm(reached - wanted, axis=-1) > 1.0).astype(numpy.float32)


class World:
    """Of one process."""

    def Get_rank(self) -> int:
        """The only one."""
        return 0

    Get_size = lambda self: 1  # noqa: E731

    def Bcast(self, values: Any, root: int = 0) -> None:
        """To nobody."""

    def Allreduce(self, mine: Any, all_of: Any, op: Any = None) -> None:
        """Of one."""
        all_of[...] = mine

    def allreduce(self, mine: Any, op: Any = None) -> Any:
        """Of one."""
        return mine


modules.put("gym", make=lambda *_, **__: Game())
modules.put("mpi4py", MPI=SimpleNamespace(COMM_WORLD=World(), SUM=None))
