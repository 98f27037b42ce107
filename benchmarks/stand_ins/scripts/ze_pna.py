"""Graphs of several sizes, as matrices, with numbers for points and for graphs."""

import made_up_data  # noqa: F401
import modules
import numpy

_SIZES = {"train": [(8, 6), (10, 6), (12, 6), (12, 4)], "val": [(8, 6), (12, 3)], "test-(8,12)": [(8, 6), (12, 3)]}


def _write(torch):
    chance = numpy.random.default_rng(0)
    draw = lambda *shape: torch.from_numpy(chance.random(shape).astype("float32"))  # noqa: E731
    kept = ({}, {}, {}, {})
    for part, sizes in _SIZES.items():
        links = [torch.triu(draw(count, size, size).round(), 1) for size, count in sizes]
        kept[0][part] = [one + one.transpose(1, 2) for one in links]
        kept[1][part] = [draw(count, size, 2) for size, count in sizes]
        kept[2][part] = [draw(count, size, 3) for size, count in sizes]
        kept[3][part] = [draw(count, 3) for _, count in sizes]
    torch.save(kept, "made.pkl")


modules.when_imported("torch", _write)
