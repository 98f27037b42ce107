"""Series in windows, and small settings."""

import json
from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
Path("data/elect").mkdir(parents=True, exist_ok=True)
for _part, _count in (("train", 44), ("test", 20)):
    _rows = _noise.normal(size=(_count, 24, 6)).astype("float32")
    _rows[:, :, -1] = _noise.integers(0, 5, (_count, 1))
    numpy.save(f"data/elect/{_part}_data_elect.npy", _rows)
    numpy.save(f"data/elect/{_part}_v_elect.npy", 1 + _noise.random((_count, 2)).astype("float32"))
    numpy.save(f"data/elect/{_part}_label_elect.npy", _noise.normal(size=(_count, 24)).astype("float32"))
_path = Path("experiments/base_model/params.json")
_path.write_text(json.dumps(json.loads(_path.read_text()) | {
    "batch_size": 16, "lstm_layers": 1, "num_epochs": 3, "train_window": 24, "test_window": 24, "predict_start": 20,
    "test_predict_start": 20, "predict_steps": 4, "num_class": 5, "lstm_hidden_dim": 8, "embedding_dim": 4,
    "sample_times": 4, "predict_batch": 16,
}))  # fmt: skip
