"""Graphs of several sizes with labels of nodes, a version that is a number, and older names."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import networkx
import numpy

networkx.__version__ = "3.6"
networkx.to_numpy_matrix, networkx.from_numpy_matrix = networkx.to_numpy_array, networkx.from_numpy_array
modules.put("community")
modules.put("matplotlib.colors")
modules.put("matplotlib.figure")
modules.put("matplotlib.backends.backend_agg")
_chance = numpy.random.default_rng(0)
_folder = Path("data/MADE")
_folder.mkdir(parents=True, exist_ok=True)
_edges, _graphs, _kinds, _next = [], [], [], 1
for _graph in range(1, 31):
    _count = int(_chance.integers(6, 13))
    for _one in range(_count):
        _other = (_one + 1) % _count
        _edges += [f"{_next + _one}, {_next + _other}", f"{_next + _other}, {_next + _one}"]
        _graphs.append(str(_graph))
        _kinds.append(str(int(_chance.integers(1, 4))))
    _next += _count
for _name, _lines in (
    ("A", _edges), ("graph_indicator", _graphs), ("node_labels", _kinds), ("graph_labels", ["1", "2"] * 15),
):  # fmt: skip
    (_folder / f"MADE_{_name}.txt").write_text("\n".join(_lines) + "\n")
