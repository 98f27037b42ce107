"""Two or three people who walk; a name of networkx that is gone."""

from pathlib import Path

import modules
import numpy

_chance = numpy.random.default_rng(0)
for _split, _frames in (("train", 34), ("val", 27)):
    _folder = Path(f"datasets/made/{_split}")
    _folder.mkdir(parents=True, exist_ok=True)
    _lines = []
    for _person, (_first, _last) in enumerate(((0, _frames), (0, _frames), (_frames - 22, _frames)), 1):
        _place = _chance.random(2) * 5
        for _frame in range(_first, _last):
            _place = _place + _chance.normal(0.3, 0.1, 2)
            _lines.append((_frame, f"{_frame * 10}\t{_person}\t{_place[0]:.3f}\t{_place[1]:.3f}"))
    (_folder / "made.txt").write_text("\n".join(text for _, text in sorted(_lines)) + "\n")


def _change(module):
    module.from_numpy_matrix = module.from_numpy_array


modules.when_imported("networkx", _change)
