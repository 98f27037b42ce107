"""Who bought what, and when."""

from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
_place = Path("made/made")
_place.mkdir(parents=True, exist_ok=True)
_rows: dict[str, list[str]] = {"train": [], "dev": [], "test": []}
for _user in range(1, 31):
    _items = [int(one) + 1 for one in _noise.permutation(60)[:9]]
    for _at, _item in enumerate(_items):
        _name = "train" if _at < 7 else ("dev", "test")[_at - 7]
        _others = [int(one) + 1 for one in _noise.integers(0, 60, 19)]
        _rows[_name].append(f"{_user}\t{_item}\t{_at}" + ("" if _name == "train" else f"\t{_others}"))
for _name, _lines in _rows.items():
    _head = "user_id\titem_id\ttime" + ("" if _name == "train" else "\tneg_items")
    (_place / f"{_name}.csv").write_text("\n".join([_head, *_lines]) + "\n")
