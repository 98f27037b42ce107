"""What 30 people watched, in the order of time, cut into its parts."""

from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("saved_data/ml-1m/pro_sg")
_folder.mkdir(parents=True, exist_ok=True)
for _name in ("saved_models", "saved_logs", "saved_plots", "saved_data/ml-1m/saved_models"):
    Path(_name).mkdir(parents=True, exist_ok=True)
(_folder / "unique_sid.txt").write_text("".join(f"{item}\n" for item in range(60)))
_parts = {name: ["uid,sid"] for name in ("train", "validation_tr", "validation_te", "test_tr", "test_te")}
for _user in range(30):
    _seen = [int(item) for item in _chance.choice(60, int(_chance.integers(8, 14)), replace=False)]
    _rows = [f"{_user},{item}" for item in _seen]
    if _user < 22:
        _parts["train"] += _rows
    else:
        _kind = "validation" if _user < 26 else "test"
        _parts[f"{_kind}_tr"] += _rows[:-3]
        _parts[f"{_kind}_te"] += _rows[-3:]
for _name, _rows in _parts.items():
    (_folder / f"{_name}.csv").write_text("\n".join(_rows) + "\n")
