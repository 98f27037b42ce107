"""Clouds of points as files, and settings of a smaller network."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("modelnet40_normal_resampled")
_kinds = [f"kind{number}" for number in range(4)]
for _kind in _kinds:
    (_folder / _kind).mkdir(parents=True, exist_ok=True)
(_folder / "modelnet40_shape_names.txt").write_text("".join(f"{one}\n" for one in _kinds))
for _part, _count in (("train", 13), ("test", 5)):
    _names = [f"{_kinds[number % 4]}_{_part}{number:03d}" for number in range(_count)]
    (_folder / f"modelnet40_{_part}.txt").write_text("".join(f"{one}\n" for one in _names))
    for _name in _names:
        numpy.savetxt(_folder / _name.split("_")[0] / f"{_name}.txt", _chance.normal(size=(64, 6)), delimiter=",")


class Settings:
    """Settings as attributes."""

    def __init__(self, **named):
        vars(self).update(named)


_settings = Settings(
    batch_size=3, epoch=3, learning_rate=1e-3, gpu=0, num_point=64, optimizer="Adam", weight_decay=1e-4, normal=True,
    model=Settings(name="Hengshuang", nneighbor=4, nblocks=2, transformer_dim=16),
)  # fmt: skip
_hydra = modules.put("hydra", main=lambda **_: lambda function: lambda: function(_settings))
modules.put("hydra.utils", to_absolute_path=lambda path: str(Path(path).resolve()))
modules.put("omegaconf")
