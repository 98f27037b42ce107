"""A game of 84 by 84 pixels by its shapes."""

import modules


class _Env:
    def __init__(self, args):
        self._device, self._turn = args.device, 0

    def train(self):
        pass

    eval = close = render = train

    def action_space(self):
        return 3

    def _state(self):
        import torch

        return torch.rand(4, 84, 84).to(self._device)

    def reset(self):
        self._turn = 0
        return self._state()

    def step(self, action):
        self._turn += 1
        return self._state(), float(action == 1), self._turn % 9 == 0


modules.put("env", Env=_Env)
modules.put("atari_py", list_games=lambda: ["space_invaders"])
modules.put("plotly.graph_objs.scatter", Line=modules.Anything)
modules.put("plotly.graph_objs", Scatter=modules.Anything)
modules.put("plotly")
