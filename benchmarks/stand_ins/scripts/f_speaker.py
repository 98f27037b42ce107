"""What some people said."""

import pickle
from pathlib import Path

import made_up_data
import numpy

_noise = numpy.random.default_rng(0)
for _who in range(4):
    _place = Path(f"feat_logfbank_nfilt40/train/s{_who}")
    _place.mkdir(parents=True, exist_ok=True)
    for _number in range(12):
        _sound = {"feat": _noise.normal(size=(int(_noise.integers(230, 300)), 40)), "label": f"s{_who}"}
        (_place / f"{_number}.p").write_bytes(pickle.dumps(_sound))
Path("model_saved").mkdir(exist_ok=True)
numpy.set_printoptions = lambda **_: None  # type: ignore[assignment]
made_up_data.smaller_batches(8)
