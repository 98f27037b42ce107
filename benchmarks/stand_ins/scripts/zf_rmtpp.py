"""What happened to machines, and when."""

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)


def _read(path):
    count = 80 if "train" in path else 44
    return {
        "id": numpy.repeat(numpy.arange(count // 20 + 1), 20)[:count],
        "time": _chance.exponential(1, count).cumsum(),
        "event": _chance.integers(0, 7, count),
    }


modules.put("pandas", read_csv=_read)
