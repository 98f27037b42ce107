"""A game of Atari by its shape: the screen is noise."""

import made_up_data  # noqa: F401
import modules
import numpy

chance = numpy.random.default_rng(0)


class Game(modules.Anything):
    """What of the emulator is called."""

    _steps = 0

    def getMinimalActionSet(self):
        return list(range(4))

    def getScreenGrayscale(self):
        return chance.integers(0, 255, (210, 160, 1)).astype("uint8")

    def act(self, _):
        self._steps += 1
        return float(chance.integers(0, 2))

    def game_over(self):
        return self._steps > 0 and self._steps % 60 == 0

    def lives(self):
        return 1

    def reset_game(self):
        self._steps = 0


modules.put(
    "atari_py", ALEInterface=Game, list_games=lambda: ["pong", "space_invaders"], get_game_path=lambda name: name
)
for name in ("plotly", "plotly.graph_objs", "plotly.graph_objs.scatter"):
    modules.put(name)
