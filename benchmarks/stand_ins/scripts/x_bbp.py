"""Sums of generators, as older versions of NumPy had them."""

import types

import made_up_data  # noqa: F401
import numpy

_sum = numpy.sum


def _add(given, *rest, **named):
    return sum(given) if isinstance(given, types.GeneratorType) else _sum(given, *rest, **named)


numpy.sum = _add
