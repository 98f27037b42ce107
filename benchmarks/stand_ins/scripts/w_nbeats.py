"""Visits of tourists by year, quarter and month, and a smaller configuration. Needs gin-config and fire."""

import os
from pathlib import Path

import modules
import numpy

_chance = numpy.random.default_rng(0)
os.environ.setdefault("STORAGE", "made")
_folder = Path("made/datasets/tourism")
_folder.mkdir(parents=True, exist_ok=True)
for _group, _rows, _length, _horizon in (("yearly", 2, 20, 4), ("quarterly", 3, 40, 8), ("monthly", 3, 90, 24)):
    _names = [f"{_group[0]}{one}" for one in range(1, 8)]
    _lengths = [_length - int(one) for one in _chance.integers(0, 5, 7)]
    for _split, _count, _first in (("in", _length, _lengths), ("oos", _horizon, [_horizon] * 7)):
        _lines = [",".join(_names), ",".join(map(str, _first)), *[",".join(["1"] * 7)] * (_rows - 1)]
        for _row in range(_count):
            _lines.append(",".join(f"{_chance.uniform(50, 90):.2f}" if _row < _first[one] else "" for one in range(7)))
        (_folder / f"{_group}_{_split}.csv").write_text("\n".join(_lines) + "\n")
Path("made/run").mkdir(exist_ok=True)
Path("made/run/config.gin").write_text("""instance.model_type = 'generic'
instance.history_size = {'Yearly': 5, 'Quarterly': 10, 'Monthly': 20}
instance.iterations = {'Yearly': 6, 'Quarterly': 6, 'Monthly': 6}
generic.layer_size = 16
generic.layers = 2
generic.stacks = 3
TimeseriesSampler.batch_size = 16
trainer.learning_rate = 0.001
SnapshotManager.logging_frequency = 3
SnapshotManager.snapshot_frequency = 4
instance.repeat = 0
instance.lookback = 2
instance.loss = 'MAPE'
""")
modules.put("patoolib")
_array = numpy.array


def _as_before(given, *other, **named):
    try:
        return _array(given, *other, **named)
    except ValueError:
        made = numpy.empty(len(given), dtype=object)
        for place, one in enumerate(given):
            made[place] = one
        return made


numpy.array = _as_before
