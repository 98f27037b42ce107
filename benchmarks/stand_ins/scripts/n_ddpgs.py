"""A game by its shape, and what ``copy=False`` said before NumPy 2."""

import os

import games
import made_up_data  # noqa: F401
import numpy

_array = numpy.array


def _copied_if_needed(*given, copy=True, **named):
    return _array(*given, copy=copy or None, **named)


os.makedirs("./expDDPG.pyPendulum-v0.", exist_ok=True)
games.install()
numpy.array = _copied_if_needed
