"""A game of three numbers by its shape."""

import games
import modules


class Game(games.Game):
    _max_episode_steps = 20

    def reset(self):
        super().reset()
        return games._NOISE.normal(size=3)

    def step(self, action):
        _, reward, done, info = super().step(action)
        return games._NOISE.normal(size=3), reward, done, info

    def render(self):
        """Nothing: it is noise."""

    close = render


modules.put("gym", make=lambda *_, **__: Game())
