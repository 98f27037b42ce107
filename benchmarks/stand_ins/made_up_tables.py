"""Tables of noise, as files."""

from pathlib import Path

import numpy


def hourly(path: str, rows: int, series: int) -> None:
    """``date``, then as many series, of which the last is called ``OT``."""
    import pandas

    names = [f"s{number}" for number in range(series - 1)] + ["OT"]
    table = pandas.DataFrame(numpy.random.default_rng(0).normal(size=(rows, series)).cumsum(axis=0), columns=names)
    table.insert(0, "date", pandas.date_range("2020-01-01", periods=rows, freq="h"))
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False)


def watched(users: int, items: int, each: int) -> list[tuple[int, int]]:
    """Pairs of user and item, both from 1, in the order of time."""
    chance = numpy.random.default_rng(0)
    return [(user + 1, int(item) + 1) for user in range(users) for item in chance.integers(0, items, each)]
