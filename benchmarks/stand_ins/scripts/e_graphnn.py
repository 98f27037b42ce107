"""Sixty graphs of 4 to 9 nodes."""

from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
_place = Path("data/PROTEINS")
_place.mkdir(parents=True, exist_ok=True)
_edges, _of, _kinds, _marks, _first = [], [], [], [], 1
for _graph in range(1, 61):
    _count = int(_noise.integers(4, 10))
    for _at in range(_count):
        _next = _first + (_at + 1) % _count
        _edges += [f"{_first + _at}, {_next}", f"{_next}, {_first + _at}"]
        _of.append(str(_graph))
        _kinds.append(str(int(_noise.integers(0, 3))))
    _marks.append(str(_graph % 2))
    _first += _count
for _name, _rows in (("A", _edges), ("graph_indicator", _of), ("node_labels", _kinds), ("graph_labels", _marks)):
    (_place / f"PROTEINS_{_name}.txt").write_text("\n".join(_rows) + "\n")
