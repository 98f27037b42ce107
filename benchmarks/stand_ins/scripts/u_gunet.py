"""Rings of five to nine nodes with chords."""

from pathlib import Path

import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("data/MADE").mkdir(parents=True, exist_ok=True)
_lines = ["40"]
for _number in range(40):
    _count = int(_chance.integers(5, 10))
    _lines.append(f"{_count} {_number % 2}")
    for _node in range(_count):
        _near = sorted({(_node + 1) % _count, (_node - 1) % _count, (_node + 2 + _number % 2) % _count} - {_node})
        _lines.append(" ".join(map(str, [int(_chance.integers(0, 3)), len(_near), *_near])))
Path("data/MADE/MADE.txt").write_text("\n".join(_lines) + "\n")


def _change(module):
    module.to_numpy_matrix = module.to_numpy_array


modules.when_imported("networkx", _change)
