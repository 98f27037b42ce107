"""Films as features of their moments, and what is done in each moment."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("data/50salads")
for _name in ("features", "groundTruth", "splits"):
    (_folder / _name).mkdir(parents=True, exist_ok=True)
(_folder / "mapping.txt").write_text("".join(f"{kind} a{kind}\n" for kind in range(6)))
for _film, _length in (("one", 72), ("two", 56), ("three", 64)):
    numpy.save(_folder / "features" / f"{_film}.npy", _chance.normal(size=(2048, _length)).astype("float32"))
    _kinds = numpy.repeat(_chance.integers(0, 6, _length // 8), 8)
    (_folder / "groundTruth" / f"{_film}.txt").write_text("".join(f"a{kind}\n" for kind in _kinds))
(_folder / "splits/train.split1.bundle").write_text("one.txt\ntwo.txt\n")
(_folder / "splits/test.split1.bundle").write_text("three.txt\n")
