"""Fewer games with shorter searches, and a smaller network."""

import made_up_data  # noqa: F401
import modules

_SMALLER = {
    "numIters": 3, "numEps": 1, "numMCTSSims": 2, "arenaCompare": 2, "epochs": 2, "batch_size": 64, "num_channels": 8,
}  # fmt: skip


def _change(module):
    before = module.dotdict

    class Settings(before):
        def __init__(self, given):
            super().__init__({name: _SMALLER.get(name, value) for name, value in given.items()})

    module.dotdict = Settings


modules.put("coloredlogs")
modules.when_imported("utils", _change)


def _change_game(module):
    module.OthelloGame.stringRepresentation = lambda _, board: board.tobytes()


modules.when_imported("othello.OthelloGame", _change_game)
