"""Answers of pupils, as many as each gave, and a small configuration."""

import json
from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
Path("datasets/ASSIST2009").mkdir(parents=True, exist_ok=True)
_lines, _order = ["order_id,user_id,skill_name,correct"], 0
for _user in range(30):
    for _ in range(int(_chance.integers(5, 26))):
        _order += 1
        _lines.append(f"{_order},{_user},s{_chance.integers(0, 9)},{_chance.integers(0, 2)}")
Path("datasets/ASSIST2009/skill_builder_data.csv").write_text("\n".join(_lines) + "\n")
Path("config.json").write_text(json.dumps({
    "train_config": {
        "batch_size": 8, "num_epochs": 3, "train_ratio": 0.75, "learning_rate": 0.001, "optimizer": "adam",
        "seq_len": 12,
    },
    "dkvmn": {"dim_s": 8, "size_m": 5},
}))  # fmt: skip
