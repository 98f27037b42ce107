"""A game and its past: transitions of noise."""

import games
import modules
import numpy

games.install()
_noise = numpy.random.default_rng(0)
_past = {
    "observations": _noise.normal(size=(400, 5)), "actions": _noise.uniform(-1, 1, (400, 2)),
    "next_observations": _noise.normal(size=(400, 5)), "rewards": _noise.normal(size=400),
    "terminals": numpy.zeros(400),
}  # fmt: skip
modules.put("d4rl", qlearning_dataset=lambda _: _past)
