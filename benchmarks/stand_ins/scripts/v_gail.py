"""A game of noise, what an expert played of it, and the wrapper that games have."""

import games
import modules


class _Wrapper:
    def __init__(self, env):
        self.env = env
        self.observation_space, self.action_space = env.observation_space, env.action_space

    def reset(self):
        return self.env.reset()

    def seed(self, seed):
        self.env.seed(seed)


def _change(torch):
    noise = torch.Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, generator=noise)  # noqa: E731
    torch.save({
        "state": draw(200, 5), "action": draw(200, 2).clamp(-0.9, 0.9), "reward": draw(200, 1),
        "done": torch.zeros(200, 1), "next_state": draw(200, 5),
    }, "made.pth")  # fmt: skip


games.install()
modules.put("gym", Wrapper=_Wrapper)
modules.when_imported("torch", _change)
