"""What an expert did in a game, and the game."""

from pathlib import Path

import games
import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
_place = Path("expert_traj/BipedalWalker-v2")
for _folder in (_place, Path("gif"), Path("preTrained/BipedalWalker-v2")):
    _folder.mkdir(parents=True, exist_ok=True)
numpy.savetxt(_place / "BipedalWalker-v2_expert_states.dat", _chance.normal(size=(130, 5)))
numpy.savetxt(_place / "BipedalWalker-v2_expert_actions.dat", _chance.uniform(-1, 1, (130, 2)))
modules.put("gym", make=lambda *_, **__: games.Game())


def _change(torch):
    full = torch.full

    def of_old(*given, **named):
        """Without a type it gave numbers with fractions."""
        return full(*given, **({"dtype": torch.float32} if "device" in named else {}), **named)

    torch.full = of_old


modules.when_imported("torch", _change)
