"""Two voices and their mixture: noise, as long as the lists say."""

import json
from pathlib import Path
from typing import Any

import modules
import numpy

_noise = numpy.random.default_rng(0)


def _load(path: str, sr: int) -> tuple[Any, int]:
    return _noise.normal(size=int(Path(path).stem)).astype("float32"), sr


modules.put("librosa", load=_load)
for _part, _count in (("tr", 18), ("cv", 8)):
    Path(_part).mkdir(exist_ok=True)
    _lengths = [int(one) for one in _noise.integers(400, 1000, _count)]
    for _name in ("mix", "s1", "s2"):
        _lines = [[f"{_name}/{length}.wav", length] for length in _lengths]
        Path(f"{_part}/{_name}.json").write_text(json.dumps(_lines))
