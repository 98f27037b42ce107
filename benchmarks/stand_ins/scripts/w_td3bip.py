"""A game of noise."""

import games
import numpy

games.Game._max_episode_steps = 9
games.install()
_array = numpy.array


def _as_before(given, *other, copy=True, **named):
    return _array(given, *other, **named) if copy else numpy.asarray(given, *other, **named)


numpy.array = _as_before
