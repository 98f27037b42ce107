"""Points of ten kinds of things, as files of numbers."""

from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
_folder = Path("data/modelnet40_normal_resampled")
_folder.mkdir(parents=True, exist_ok=True)
_kinds = [f"kind{number}" for number in range(10)]
(_folder / "modelnet10_shape_names.txt").write_text("\n".join(_kinds) + "\n")
for _part, _count in {"train": 60, "test": 20}.items():
    _names = [f"{_kinds[number % 10]}_{_part}{number:04}" for number in range(_count)]
    _names = [name.replace(f"_{_part}", f"_{1 if _part == 'test' else 0}") for name in _names]
    (_folder / f"modelnet10_{_part}.txt").write_text("\n".join(_names) + "\n")
    for _name in _names:
        (_folder / _name.partition("_")[0]).mkdir(exist_ok=True)
        numpy.savetxt(_folder / _name.partition("_")[0] / f"{_name}.txt", _noise.random((40, 6)), delimiter=",")
