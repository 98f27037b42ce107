"""Digits in arrays."""

import made_up_data  # noqa: F401
import modules
import numpy
import pictures


def _load():
    parts = []
    for count, seed in ((600, 1), (300, 2)):
        data, kinds = pictures.noise(count, (28, 28), 10, seed)
        parts += [data[:, None].astype("float32") / 255, numpy.array(kinds)]
    return parts


modules.put("continualai.colab.scripts.mnist", init=lambda: None, load=_load)
_any = modules.Anything()
_axes = numpy.array([[_any, _any], [_any, _any]], dtype=object)
modules.put("matplotlib.pyplot", subplots=lambda *given, **_: (_any, _axes if given == (2, 2) else _axes[0]))
