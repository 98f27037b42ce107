"""A game by its shape, as its library has it now."""

import games
import made_up_data  # noqa: F401
import modules


class Game(games.Game):
    def reset(self, **_):
        return super().reset(), {}

    def step(self, action):
        state, reward, done, info = super().step(action)
        return state, reward, done, False, info

    def close(self):
        pass


modules.put("gymnasium", make=lambda *_, **__: Game())
modules.put("IPython.display")
